# Runs one command with a terminal on another host. Before it stand assignments of
# sg_dir, sg_id, sg_shell, sg_cwd and sg_strict, and the functions sg_enter and
# sg_start. Whoever hangs up ends the command, as at any terminal.

# Only one has it: we, or whoever found that we were never started.
mv "$sg_dir/run" "$sg_dir/begun" 2>/dev/null || exit 125
rm -rf "$sg_dir"
sg_path=$(command -v "$sg_shell") || {
  printf 'shellglass: the host has no %s\n' "$sg_shell" >&2
  exit 127
}
sg_enter || {
  printf 'shellglass: there is no directory %s\n' "$sg_cwd" >&2
  exit 125
}
# A key that interrupts is the command's alone, and what it makes of it is its end.
trap : INT QUIT
sg_start
sg_code=$?
# ssh says this of itself as well.
if [ "$sg_code" -eq 255 ]; then
  (umask 077 && mkdir "$sg_dir" && echo 255 >"$sg_dir/code")
fi
exit "$sg_code"
