# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
tool node
[ "$(node -e "const {execSync}=require('child_process');const w=new (require('worker_threads').Worker)('1',{eval:true});w.on('exit',()=>process.stdout.write(execSync('echo hi')))")" = hi ] && ok
bad
