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
    // The loader and the C library.
    "LD_*",
    "DYLD_*",
    "*_PRELOAD",
    "GLIBC_*",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "MALLOC_*",
    "RES_OPTIONS",
    "HOSTALIASES",
    "LOCALDOMAIN",
    "TZDIR",
    "GETCONF_DIR",
    "RESOLV_*",
    // Shells.
    "BASH_ENV",
    "BASH_FUNC_*",
    "BASHOPTS",
    "SHELLOPTS",
    "BASH_XTRACEFD",
    "BASH_LOADABLES_PATH",
    "ENV",
    "IFS",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PROMPT*",
    "RPROMPT",
    "CDPATH",
    "FIGNORE",
    "GLOBIGNORE",
    "HIST*",
    "INPUTRC",
    "POSIXLY_CORRECT",
    "ZDOTDIR",
    "FPATH",
    "MODULE_PATH",
    "NULLCMD",
    "READNULLCMD",
    "FCEDIT",
    "EXECIGNORE",
    "TERMINFO*",
    "TERMCAP",
    "SHELL",
    "fish_*",
    // Where programs and files are looked for.
    "PATH",
    "MANPATH",
    "INFOPATH",
    "HOME",
    "XDG_*",
    "TMPDIR",
    "TMP",
    "TEMP",
    "TEMPDIR",
    "PWD",
    "OLDPWD",
    "*_HOME",
    "*_ROOT",
    "*_PREFIX",
    "PKG_CONFIG*",
    "ACLOCAL_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "OBJC_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_*",
    "*_PATH",
    "*_DIR",
    "*_DIRS",
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
    "_JAVA_OPTIONS",
    "JDK_*",
    "CLASSPATH",
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
    "AWKPATH",
    "AWKLIBPATH",
    "*_OPTIONS",
    "*_OPTS",
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
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "*FLAGS",
    "*_WRAPPER",
    "*_LAUNCHER",
    "MAKE*",
    "MFLAGS",
    "GNUMAKEFLAGS",
    "CMAKE_*",
    "NINJA_*",
    "CCACHE_*",
    "SCCACHE_*",
    "DISTCC_*",
    "BAZEL_*",
    "M4PATH",
    "M4",
    "CONFIG_SHELL",
    "CONFIG_SITE",
    // Programs that start programs that a variable names.
    "GIT_*",
    "SSH_*",
    "GPG_*",
    "GNUPGHOME",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "*_PAGER",
    "MANPAGER",
    "BROWSER",
    "LESS*",
    "MORE",
    "*_COMMAND",
    "*_ASKPASS",
    "SUDO_*",
    "DOAS_*",
    "RSYNC_*",
    "TAR_*",
    "ZIPOPT",
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
    "EXINIT",
    "NVIM_*",
    "SCREENRC",
    "TMUX*",
    "STY",
    "TERM_PROGRAM*",
    "VSCODE_*",
    "DIRENV_*",
    "PSQL*",
    "PG*",
    "MYSQL_*",
    "SQLITE_*",
    "WGETRC",
    "CURL_*",
    "*RC",
    "*_CONFIG",
    "*_CONFIG_*",
    "*_RCFILE",
    "*_CONF",
    "*_ENV",
    // Whom programs talk to, and whom they trust.
    "*_PROXY",
    "SSL_*",
    "OPENSSL_*",
    "REQUESTS_CA_BUNDLE",
    "*_CA_*",
    "*_CERT*",
    "SSLKEYLOGFILE",
    "DOCKER_*",
    "CONTAINER_*",
    "PODMAN_*",
    "BUILDAH_*",
    "KUBECONFIG",
    "KUBE*",
    "HELM_*",
    "AWS_*",
    "AZURE_*",
    "GOOGLE_*",
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
    "GSETTINGS_*",
    "SYSTEMD_*",
    "NOTIFY_SOCKET",
    "LISTEN_*",
    "MAIL",
    "MAILPATH",
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
    use super::may_cross;

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
