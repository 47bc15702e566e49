# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: process
tool python3
python3 -c "import resource,os;r=resource.prlimit(os.getppid(),resource.RLIMIT_CORE,(0,0))" && esc
blk
