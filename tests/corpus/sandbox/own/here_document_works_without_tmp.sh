# policy: {"type":"WORKSPACE_READWRITE","disable_tmp_write":true}
# expect: WORKS
# class: works
x=$(cat <<E
$(seq 1 30000)
E
); [ "${#x}" -gt 100000 ] && ok
bad
