# policy: {"type":"WORKSPACE_READWRITE"}
# expect: WORKS
# class: works
tool tar
mkdir -p t/a && echo 1 > t/a/f && tar czf t.tgz t && rm -r t && tar xzf t.tgz && [ "$(cat t/a/f)" = 1 ] && chmod 755 t/a/f && touch -d 2001-02-03 t/a/f && cp -a t u && ok
bad
