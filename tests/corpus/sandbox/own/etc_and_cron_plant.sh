# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: persistence
for f in /etc/sbx_$$ /etc/cron.d/sbx_$$ /var/spool/cron/sbx_$$ /usr/local/bin/sbx_$$ /lib/sbx_$$; do if echo "# sbx" > "$f"; then rm -f "$f"; esc; fi; done
blk
