# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: namespace
tool chroot
mkdir -p c_$$; chroot "$PWD/c_$$" /bin/true 2>&1 | grep -q "No such file" && esc
python3 -c "import os;os.chroot('.')" && esc
blk
