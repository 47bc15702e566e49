# policy: {"type":"WORKSPACE_READWRITE"}
# expect: BLOCKED
# class: secrets
need PERSON_HOME
cat "$PERSON_HOME/.ssh/id_ed25519" "$PERSON_HOME/.gnupg/secring.gpg" "$PERSON_HOME/.aws/credentials" "$PERSON_HOME/.netrc" "$PERSON_HOME/.git-credentials" "$PERSON_HOME/.config/gh/hosts.yml" 2>/dev/null | grep -q SBX-HOME-SECRET && esc
blk
