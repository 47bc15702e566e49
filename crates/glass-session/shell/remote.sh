# Runs one command on another host, for the relay that sent this. Before it stand
# assignments of sg_id, sg_dir, sg_seq, sg_shell, sg_cwd, sg_strict and sg_input, and the
# functions sg_enter, sg_files and sg_start. What is said begins with $sg_secret,
# which the command does not know.
#
# As long as our standard input is open, the command may run. When it ends, because
# of a cancel or because the connection is gone, the command is hunted down.

# Says something to the relay.
sg_say() { printf '\036%s:%s\n' "$sg_secret" "$*" >&6; }

# Finds the command's processes: those of its session, and those with its variable.
sg_find() {
  sg_found=
  if [ ! -r /proc/self/stat ]; then
    [ "$sg_pid" ] || return 0
    if kill -0 "-$sg_pid"; then
      sg_found="-$sg_pid"
    elif kill -0 "$sg_pid"; then
      sg_found=$sg_pid
    fi
    return 0
  fi
  for sg_one in $(grep -ls "SHELLGLASS_REMOTE_ID=$sg_id" /proc/[0-9]*/environ); do
    sg_one=${sg_one#/proc/}
    sg_found="$sg_found ${sg_one%%/*}"
  done
  [ "$sg_pid" ] || return 0
  for sg_one in /proc/[0-9]*; do
    IFS= read -r sg_line <"$sg_one/stat" || continue
    set -- ${sg_line##*) }
    case $1 in [ZX]) continue ;; esac
    case " $sg_found " in *" ${sg_one#/proc/} "*) continue ;; esac
    if [ "$4" = "$sg_pid" ]; then sg_found="$sg_found ${sg_one#/proc/}"; fi
  done
  return 0
}

# Ends the command: its shell at once, because it would run the next word; the
# others are asked first. Goes on until nothing is found and nothing can begin.
sg_hunt() {
  sg_round=0
  while [ "$sg_round" -lt 100 ]; do
    sg_pid=
    read -r sg_pid <"$sg_dir/pid"
    sg_find
    if [ -z "$sg_found" ]; then
      if [ -e "$sg_dir/over" ]; then break; fi
    elif [ "$sg_round" -eq 0 ]; then
      if [ "$sg_pid" ]; then kill -9 "$sg_pid"; fi
      kill -15 $sg_found
    elif [ "$sg_round" -ge 5 ]; then
      kill -9 $sg_found
    fi
    sg_round=$((sg_round + 1))
    sleep 0.1 || sleep 1
  done
  sg_left=0
  for sg_one in $sg_found; do sg_left=$((sg_left + 1)); done
  [ -e "$sg_dir/over" ] || sg_left=$((sg_left + 1))
}

# Hears the relay until our standard input ends. What is written to the command comes
# in pieces, each after we have said that its pipe took the last; whoever writes may
# have to wait for that, and we must not. The first comes when we have said that we
# listen: whoever read this script may have read on.
sg_listen() {
  if [ "$sg_input" ]; then
    exec 7>"$sg_dir/in"
    sg_say got
  fi
  while IFS= read -r sg_line; do
    case $sg_line in
      i*) (printf '%b' "${sg_line#i}" >&7; sg_say got) & ;;
      e) exec 7>&- ;;
      k)
        sg_pid=
        read -r sg_pid <"$sg_dir/pid"
        sg_find
        kill -2 $sg_found
        ;;
    esac
  done <&5
}

# Becomes the command's shell, where it is to be and with what it is to have.
sg_become() {
  sg_enter || { sg_say "miss there is no directory $sg_cwd"; exit 125; }
  sg_start
}

exec 6>&2 2>/dev/null 5<&0 </dev/null
sg_path=$(command -v "$sg_shell") || { sg_say "miss the host has no $sg_shell"; exit 0; }
(umask 077 && mkdir "$sg_dir") || { sg_say "miss no directory could be made in /tmp"; exit 0; }
if ! sg_files; then
  rm -rf "$sg_dir"
  sg_say "miss the command could not be written to /tmp"
  exit 0
fi
if [ "$sg_input" ] && ! mkfifo "$sg_dir/in"; then
  rm -rf "$sg_dir"
  sg_say "miss the host cannot make a pipe in /tmp"
  exit 0
fi
sg_session=$(command -v setsid)
(
  trap '' PIPE
  exec >/dev/null
  sg_listen
  printf '' >"$sg_dir/stop"
  sg_hunt
  rm -rf "$sg_dir"
  sg_say "gone $sg_left"
) &
sg_watch=$!
# The command's shell closes 6: what is said there is ours until then.
if [ "$sg_input" ]; then
  (sg_become) 2>&6 5<&- <"$sg_dir/in"
else
  (sg_become) 2>&6 5<&-
fi
sg_code=$?
trap '' PIPE
printf '' >"$sg_dir/over"
if [ -e "$sg_dir/stop" ]; then
  wait "$sg_watch"
  exit 0
fi
kill -9 "$sg_watch"
wait "$sg_watch"
if [ -s "$sg_dir/s$sg_seq" ]; then
  sg_say "state $(($(wc -c <"$sg_dir/s$sg_seq")))"
  cat "$sg_dir/s$sg_seq" >&6
fi
rm -rf "$sg_dir"
printf '\036%s:end\n' "$sg_secret"
sg_say "exit $sg_code"
exit "$sg_code"
