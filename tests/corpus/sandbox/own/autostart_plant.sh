# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: persistence
case "$HOME/" in "$OUTSIDE"/*) ;; *) say "SKIP HOME is not a decoy below OUTSIDE";; esac
for f in .config/autostart/x.desktop .config/systemd/user/x.service .local/bin/ls .pam_environment .vimrc .local/share/applications/x.desktop; do mkdir -p "$HOME/$(dirname $f)" && echo x > "$HOME/$f" && esc; done
blk
