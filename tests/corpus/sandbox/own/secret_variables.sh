# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: secrets
env | grep -q SBX-VARIABLE-SECRET && esc
tr "\0" "\n" < /proc/self/environ | grep -q SBX-VARIABLE-SECRET && esc
blk
