//! What may cross from one sandbox of a session to another.
//!
//! A command with few rights must not plant anything that a later one with
//! more rights executes or believes. So when rights grow, only variables
//! cross that no loader, interpreter or lookup is known to obey, and only a
//! directory that is what its name says.

use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};

use crate::environment::split;
use crate::git::is_git_dir;
use crate::pattern::matches;
use crate::place::file_id;
use crate::wider::beyond;
use crate::{Effective, Plan, Workspace};

/// Variables that do not cross to a shell with more rights; `*` stands for
/// anything. Compared without regard to case: some programs read either.
const OBEYED: &[&str] = &[
    // What names of any program end in that says where it finds things, how it
    // is told what to do, and what it loads or starts.
    "*PATH",
    "*PATHS",
    "*HOME",
    "*DIR",
    "*DIRS",
    "*ROOT",
    "*PREFIX",
    "*INPUTS",
    "*FILE",
    "*FILES",
    "*CFG",
    "*CONF",
    "*CONFIG",
    "*SETTINGS*",
    "*OPTS",
    "*OPTIONS",
    "*ARGS",
    "*INIT",
    "*STARTUP*",
    "*SCRIPT",
    "*HOOK",
    "*HOOKS",
    "*PLUGIN",
    "*PLUGINS",
    "*MODULE",
    "*MODULES",
    "*BACKEND",
    "*LOADER",
    "*SHELL",
    "*RSH",
    "*CMD",
    "*EDITOR",
    "*PAGER",
    "*BROWSER",
    "*CAP",
    "*CAPS",
    "*_APP",
    // The loader and the C library.
    "LD_*",
    "DYLD_*",
    "*_PRELOAD",
    "GLIBC_*",
    "MALLOC_*",
    "HOSTALIASES",
    "LOCALDOMAIN",
    "RESOLV_*",
    // Shells.
    "BASH_FUNC_*",
    "BASH_XTRACEFD",
    "ENV",
    "IFS",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PROMPT*",
    "RPROMPT",
    "FIGNORE",
    "GLOBIGNORE",
    "HIST*",
    "POSIXLY_CORRECT",
    "FCEDIT",
    "EXECIGNORE",
    "TERMINFO*",
    "fish_*",
    // Where programs and files are looked for.
    "XDG_*",
    "TMP",
    "TEMP",
    "PWD",
    "OLDPWD",
    "PKG_CONFIG*",
    "GCC_*",
    // Interpreters and their options.
    "PYTHON*",
    "PIP_*",
    "PIPENV_*",
    "POETRY_*",
    "UV_*",
    "VIRTUAL_ENV*",
    "CONDA_*",
    "NODE_*",
    "NPM_*",
    "YARN_*",
    "PNPM_*",
    "BUN_*",
    "DENO_*",
    "TS_NODE_*",
    "PERL*",
    "RUBY*",
    "GEM_*",
    "BUNDLE_*",
    "JAVA_*",
    "JDK_*",
    "MAVEN_*",
    "MVN_*",
    "GRADLE_*",
    "ANT_*",
    "SBT_*",
    "PHP*",
    "COMPOSER_*",
    "LUA_*",
    "GO*",
    "CGO_*",
    "CARGO*",
    "RUST*",
    "DOTNET_*",
    "NUGET_*",
    "ERL_*",
    "ELIXIR_*",
    "MIX_*",
    "HEX_*",
    "R_*",
    "JULIA_*",
    "GHC*",
    "CABAL_*",
    "OCAML*",
    "OPAM*",
    "TCL*",
    "GUILE_*",
    "*OPT",
    // Compilers and build tools.
    "CC",
    "CXX",
    "CPP",
    "LD",
    "AR",
    "AS",
    "NM",
    "STRIP",
    "RANLIB",
    "OBJCOPY",
    "FC",
    "F77",
    "*FLAGS",
    "*_WRAPPER",
    "*_LAUNCHER",
    "MAKE*",
    "CMAKE_*",
    "NINJA_*",
    "CCACHE_*",
    "SCCACHE_*",
    "DISTCC_*",
    "BAZEL_*",
    "M4",
    "CONFIG_SITE",
    // Programs that start programs that a variable names.
    "GIT_*",
    "SSH_*",
    "GPG_*",
    "VISUAL",
    "LESS*",
    "MORE",
    "*_COMMAND",
    "*_ASKPASS",
    "SUDO_*",
    "DOAS_*",
    "RSYNC_*",
    "TAR_*",
    "UNZIP*",
    "GZIP",
    "XZ_*",
    "BZIP*",
    "GREP_*",
    "LS_*",
    "DIFF*",
    "MERGE*",
    "SVN_*",
    "HG*",
    "CVS*",
    "BZR*",
    "EMACS*",
    "VIM*",
    "NVIM_*",
    "TMUX*",
    "STY",
    "TERM_PROGRAM*",
    "VSCODE_*",
    "DIRENV_*",
    "PSQL*",
    "PG*",
    "MYSQL_*",
    "SQLITE_*",
    "CURL_*",
    "*RC",
    "*_CONFIG_*",
    "*_ENV",
    // Whom programs talk to, and whom they trust.
    "*_PROXY",
    "SSL_*",
    "OPENSSL_*",
    "*_CA_*",
    "*_CERT*",
    "DOCKER_*",
    "CONTAINER_*",
    "PODMAN_*",
    "BUILDAH_*",
    "KUBE*",
    "HELM_*",
    "AWS_*",
    "AZURE_*",
    "CLOUDSDK_*",
    "TF_*",
    "TERRAFORM_*",
    "VAULT_*",
    "ANSIBLE_*",
    "DBUS_*",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "*_SOCK",
    "*_SOCKET",
    "*_HOST",
    "*_URL",
    "*_URI",
    "*_REGISTRY",
    "*_INDEX",
    "*_MIRROR",
    "PULSE_*",
    "GTK_*",
    "QT_*",
    "GIO_*",
    "GDK_*",
    "GST_*",
    "SYSTEMD_*",
    "LISTEN_*",
    "MAIL",
    "MAILCHECK",
    "SHELLGLASS*",
    "NIX_*",
    "GUIX_*",
    "HOMEBREW_*",
    "DEBIAN_*",
    "APT_*",
    "DPKG_*",
    "RPM_*",
];

/// Whether one's rights go beyond another's.
pub fn grows(from: &Effective, to: &Effective) -> bool {
    beyond(to, from).is_some()
}

/// The exported variables, `NAME=VALUE` each, that may cross from a shell with
/// some rights to one with others.
pub fn crossing(env: &[Vec<u8>], from: &Effective, to: &Effective) -> Vec<Vec<u8>> {
    if beyond(to, from).is_none() {
        return env.to_vec();
    }
    env.iter()
        .filter(|entry| may_cross(split(entry).0))
        .cloned()
        .collect()
}

/// Whether some loader, interpreter or lookup obeys a variable of this name.
pub fn is_obeyed(name: &[u8]) -> bool {
    !may_cross(name)
}

/// Whether a variable may cross to a shell with more rights.
fn may_cross(name: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    if name.is_empty() || !name.iter().all(plain) {
        // Exported functions have names that no variable has.
        return false;
    }
    let name = name.to_ascii_uppercase();
    let mut obeyed = OBEYED.iter();
    !obeyed.any(|pattern| matches(pattern.to_ascii_uppercase().as_bytes(), &name))
}

/// The working directory, if it still is a plain directory with no symbolic
/// link in the way: one that a command put there would lead the next one
/// elsewhere. Links above the workspace are not in the way.
pub fn safe_directory(cwd: &Path, workspace: &Workspace) -> Option<PathBuf> {
    let plain = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::RootDir);
    if !cwd.is_absolute() || !cwd.components().all(|part| plain(&part)) {
        return None;
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let root = open(workspace.path(), flags)?;
    if file_id(&root.metadata().ok()?) != workspace.root.id {
        return None;
    }
    let opened = match cwd.strip_prefix(workspace.path()) {
        Ok(rest) if rest.as_os_str().is_empty() => return Some(cwd.to_path_buf()),
        Ok(rest) => {
            let resolve = resolve | ResolveFlags::BENEATH;
            rustix::fs::openat2(&root, rest, flags, Mode::empty(), resolve)
        }
        Err(_) => rustix::fs::openat2(rustix::fs::CWD, cwd, flags, Mode::empty(), resolve),
    };
    opened.ok().map(|_| cwd.to_path_buf())
}

/// What git would believe in a directory of the workspace, but for the
/// workspace's own repository: the `.git` or the configuration of every
/// repository that the directory lies in.
pub fn believed_in(cwd: &Path, workspace: &Workspace) -> Vec<PathBuf> {
    let nested = cwd
        .ancestors()
        .take_while(|above| above.starts_with(workspace.path()) && *above != workspace.path());
    let mut found = Vec::new();
    for directory in nested {
        let dot_git = directory.join(".git");
        if dot_git.symlink_metadata().is_ok() {
            found.push(dot_git);
        }
        if is_git_dir(directory) {
            found.push(directory.join("config"));
        }
    }
    found
}

impl Plan {
    /// Whether something may have been made by a command of this plan: it can
    /// be written, and nothing was there to protect.
    pub fn may_have_made(&self, path: &Path) -> bool {
        self.walls.is_some() && self.layout.is_writable(path) && self.layout.at(path).is_none()
    }
}

fn open(path: &Path, flags: OFlags) -> Option<std::fs::File> {
    rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty())
        .ok()
        .map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::{OBEYED, matches, may_cross};

    #[test]
    fn no_pattern_says_what_another_says() {
        for (at, one) in OBEYED.iter().enumerate() {
            let upper = one.to_uppercase();
            let says = |other: &&str| matches(other.to_uppercase().as_bytes(), upper.as_bytes());
            let mut others = OBEYED[..at].iter().chain(&OBEYED[at + 1..]);
            assert_eq!(others.find(|other| says(other)), None, "{one}");
        }
    }

    #[test]
    fn what_programs_obey_does_not_cross() {
        for name in [
            "LD_PRELOAD",
            "PATH",
            "BASH_ENV",
            "BASH_FUNC_ls%%",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "GIT_SSH_COMMAND",
            "PERL5OPT",
            "RUBYLIB",
            "_JAVA_OPTIONS",
            "JAVA_TOOL_OPTIONS",
            "IFS",
            "PS4",
            "PROMPT_COMMAND",
            "SHELLOPTS",
            "BASHOPTS",
            "INPUTRC",
            "READNULLCMD",
            "TERMCAP",
            "CFLAGS",
            "GNUMAKEFLAGS",
            "ZIPOPT",
            "SCREENRC",
            "WGETRC",
            "PYLINT_RCFILE",
            "REQUESTS_CA_BUNDLE",
            "SSLKEYLOGFILE",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GSETTINGS_BACKEND",
            "NOTIFY_SOCKET",
            "EDITOR",
            "PAGER",
            "SSH_ASKPASS",
            "CARGO_HOME",
            "RUSTC_WRAPPER",
            "CC",
            "npm_config_registry",
            "https_proxy",
            "XDG_CONFIG_HOME",
            "HOME",
            "TMPDIR",
            "TERMINFO",
            "LOCPATH",
            "CDPATH",
            "MAKEFLAGS",
            "GCONV_PATH",
            "PSModulePath",
            "IPYTHONDIR",
            "GVIMINIT",
            "PYTEST_ADDOPTS",
            "PYTEST_PLUGINS",
            "GUNICORN_CMD_ARGS",
            "MAILCAPS",
            "MPLBACKEND",
            "COMPOSE_FILE",
            "LYNX_CFG",
            "",
            "a b",
        ] {
            assert!(!may_cross(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn what_people_set_crosses() {
        for name in [
            "FOO",
            "MY_VERSION",
            "LANG",
            "LC_ALL",
            "TERM",
            "CI",
            "TZ",
            "USER",
            "DEBUG",
        ] {
            assert!(may_cross(name.as_bytes()), "{name}");
        }
    }
}
