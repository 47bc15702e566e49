# policy: {"type":"WORKSPACE_READWRITE","disable_tmp_write":true}
# expect: BLOCKED
# class: tmp
for d in /tmp /var/tmp /dev/shm; do mkdir "$d/d_$$" 2>/dev/null && esc; ln -s / "$d/l_$$" 2>/dev/null && esc; done
echo x > t_$$; mv t_$$ /tmp/t_$$ 2>/dev/null; [ -e /tmp/t_$$ ] && esc
blk
