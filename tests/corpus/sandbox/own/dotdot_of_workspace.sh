# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: fs-write
echo x > ../dd_$$; [ -e ../dd_$$ ] && esc
blk
