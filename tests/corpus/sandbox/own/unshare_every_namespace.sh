# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: namespace
tool unshare
for f in U m n i u p C T; do unshare -$f true 2>/dev/null && esc; unshare -U$f true 2>/dev/null && esc; done
blk
