//! A clean root file system with our package in it, and nothing of this machine.
//!
//! It has namespaces of its own for mounts and processes: whatever is started in
//! it ends with it. It is entered by `pivot_root`, because the kernel makes no
//! user namespaces, which the walls are made of, below a mere `chroot`.

use shellglass_tests::program;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What somebody looks at who has just installed it.
pub(super) const FIRST_LOOK: &str = "\
```sh
shellglass --version
shellglass doctor
gzip --test /usr/share/man/man1/shellglass.1.gz
bash -n /usr/share/bash-completion/completions/shellglass
grep -q ListenStream /usr/lib/systemd/user/shellglass.socket
test \"$(stat -c %U /usr/bin/shellglass)\" = root
```
";

/// Moves into the root; what is left of the machine is the kernel's.
const ENTER: &str = r#"
set -e
cd "$ROOT"
mount --bind . .
cd "$ROOT"
mount -t proc proc proc
mount --rbind /dev dev
mount --rbind /sys sys
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs tmpfs run
mkdir -p "./$NOTES" old
mount --bind "$NOTES" "./$NOTES"
pivot_root . old
cd /
exec /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin NOTES="$NOTES" LISTEN="$LISTEN" /bin/sh "$NOTES/setup"
"#;

/// Installs the package as its administrator would, and becomes its user.
const SETUP: &str = r#"
set -e
umount -l /old
dpkg --install "$NOTES/shellglass.deb" >"$NOTES/installed" 2>&1
echo me:x:1000:1000::/home/me:/bin/bash >>/etc/passwd
echo me:x:1000: >>/etc/group
mkdir -p /home/me/project /run/user/1000
chmod 700 /run/user/1000
chown -R 1000:1000 /home/me /run/user/1000 "$NOTES"
cd /home/me/project
exec setpriv --reuid=1000 --regid=1000 --clear-groups env -i PATH=/usr/bin:/bin HOME=/home/me \
    USER=me SHELL=/bin/bash LANG=C.UTF-8 XDG_RUNTIME_DIR=/run/user/1000 \
    SHELLGLASS_DAEMON_LISTEN="$LISTEN" bash "$NOTES/script"
"#;

/// A root file system.
pub(super) struct Clean {
    root: PathBuf,
    notes: PathBuf,
    address: String,
}

impl Clean {
    /// Makes one, and the package that will be installed in it.
    pub(super) fn install(root: PathBuf, notes: &Path, address: &str) -> Clean {
        let source = super::root();
        std::fs::create_dir(&root).unwrap();
        let archive = source.join(".tools/root-1.tar");
        let mut unpack = Command::new("tar");
        unpack.arg("-xf").arg(archive).arg("-C").arg(&root);
        succeed(unpack.args(["--exclude=./dev/*", "--numeric-owner"]));
        let packages = root.join("packages");
        let mut dist = Command::new(source.join("scripts/dist"));
        succeed(dist.arg(program()).arg(&packages));
        let mut made = std::fs::read_dir(&packages).unwrap().flatten();
        let package = made.find(|file| file.path().extension().is_some_and(|end| end == "deb"));
        let package = package.expect("there is a package").path();
        std::fs::rename(package, notes.join("shellglass.deb")).unwrap();
        std::fs::write(notes.join("setup"), SETUP).unwrap();
        Clean {
            root,
            notes: notes.to_owned(),
            address: address.to_owned(),
        }
    }

    /// What runs the script of the notes in there.
    pub(super) fn shell(&self) -> Command {
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "--propagation", "private", "--pid", "--fork"])
            .args(["--kill-child", "sh", "-c", ENTER])
            .env("ROOT", &self.root)
            .env("NOTES", &self.notes)
            .env("LISTEN", &self.address)
            .stdin(Stdio::null());
        command
    }
}

fn succeed(command: &mut Command) {
    let done = command.stdin(Stdio::null()).output();
    let done = done.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {said}");
}
