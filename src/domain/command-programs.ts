/**
 * How many of its first words say what a command does, by program, and which programs run any command that is given as
 * arguments. Unknown programs count by their name and their subcommand.
 */

/**
 * What follows the program. `anything`: another command, code, or a setting of the shell, so a prefix would
 * limit nothing. `arguments`: the program alone is the unit. `word`: a subcommand, if there is one. `subcommand`: a
 * subcommand, without which the program does anything. `name`: a subcommand and the name of a script. `script`: a file
 * with code, or `-m` and a module. `program` and `subcommand program`: another program.
 */
export type CommandForm =
  "anything" | "arguments" | "word" | "subcommand" | "name" | "script" | "program" | "subcommand program";

export function findCommandForm(program: string, second: string | undefined): CommandForm {
  const name = programName(program);
  const withoutVersion = name.replace(/-?\d[\d.]*$/, ""); // python3.12
  const names = [`${name} ${second ?? ""}`, name, `${withoutVersion} ${second ?? ""}`, withoutVersion];
  return names.map((each) => FORMS.get(each)).find((form) => form !== undefined) ?? "word";
}

/** Whether the command is known to delete, overwrite or send. Such a prefix is not suggested. */
export function isDestructive(program: string, second: string | undefined): boolean {
  const name = programName(program);
  return DESTRUCTIVE.has(name) || DESTRUCTIVE.has(`${name} ${second ?? ""}`);
}

/** Removes the folder and the extension of a Windows program. In lower case, because a file system may ignore case. */
function programName(program: string): string {
  return program
    .slice(program.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/\.(?:exe|com|cmd|bat)$/, "");
}

const toWords = (text: string): string[] => text.trim().split(/\s+/);
/** Combines a program with each of its subcommands. */
const pairs = (program: string, subcommands: string): string[] =>
  toWords(subcommands).map((each) => `${program} ${each}`);

const ANYTHING = [
  ...toWords("sudo doas su pkexec runuser env sh bash dash zsh ksh mksh ash fish csh tcsh rbash elvish nu pwsh"),
  ...toWords("powershell cmd busybox toybox xargs parallel eval exec command builtin source . nohup time timeout"),
  ...toWords("gtimeout nice ionice chrt taskset setsid stdbuf unbuffer script strace ltrace gdb lldb perf watch entr"),
  ...toWords("find fd fdfind awk gawk mawk nawk sed gsed ssh mosh chroot unshare nsenter flock systemd-run at batch"),
  ...toWords(
    "crontab expect screen tmux zellij vi vim nvim ex ed emacs nano m4 caffeinate coproc alias unalias export",
  ),
  ...toWords("declare typeset local readonly set unset shopt setopt enable trap hash bind cd pushd popd umask noglob"),
  ...toWords("nocorrect repeat function if then else elif while until for case select do"),
  ...toWords("not and or begin emulate jobs wsl cross-env dotenv xvfb-run arch setarch faketime fakeroot valgrind"),
  ...toWords("hyperfine concurrently nix-shell ssh-agent dbus-run-session prlimit numactl gfind genv gxargs gnice"),
  ...toWords("gnohup gstdbuf gsh"),
  ...pairs("git", "bisect config difftool filter-branch mergetool rebase submodule"),
  ...pairs("npm", "config explore set"),
  ...pairs("pnpm", "node bash sh"),
  ...pairs("yarn", "node workspace workspaces"),
  ...pairs("docker", "exec run compose container"),
  ...pairs("podman", "exec run compose container"),
  ...["conda run", "rustup run", "asdf exec", "mise x", "lerna exec", "bun exec", "composer exec", "gem exec"],
  ...["uv tool", "rails runner", "mix do", "mix run", "mix eval", "poetry shell", "pipenv shell", "nx exec"],
  ...pairs("kubectl", "exec run debug"),
  ...pairs("deno", "eval repl"),
  ...pairs("cargo", "script"),
];

const ARGUMENTS = [
  ...toWords(
    "ls cat head tail wc echo printf pwd grep egrep fgrep cut uniq diff cmp file stat du df ps date which type",
  ),
  ...toWords(
    "whoami uname id tree nl od xxd basename dirname realpath readlink mkdir touch tsc eslint prettier pytest",
  ),
  ...toWords("mypy ruff black flake8 vitest jest mocha rspec phpunit shellcheck gofmt rustfmt true false test sleep"),
];

const SUBCOMMAND = [
  ...toWords("git npm pnpm yarn bun deno cargo rustup go docker podman kubectl helm terraform make gmake just task"),
  ...toWords(
    "gradle gradlew mvn mvnw pip uv poetry pipenv pdm hatch rye pipx conda bundle gem rake mix dotnet gh glab",
  ),
  ...toWords(
    "aws gcloud az systemctl service brew apt apt-get dnf yum apk pacman nix composer rails flutter dart swift",
  ),
  ...toWords("mise asdf direnv corepack turbo nx lerna cmake ninja bazel rg curl wget tar rsync scp zip unzip"),
];

const SCRIPT = [
  ...toWords("node nodejs python pypy ruby perl php lua luajit tclsh wish rscript r julia osascript groovy scala java"),
  ...toWords(
    "jshell guile sbcl racket elixir erl escript irb ghci runghc ts-node tsx esno swipl ocaml clojure nodemon",
  ),
];

const NAME = [
  ...pairs("npm", "run run-script"),
  ...pairs("pnpm", "run"),
  ...pairs("yarn", "run"),
  ...pairs("bun", "run"),
  ...pairs("deno", "run task"),
  ...pairs("go", "run"),
  ...pairs("composer", "run run-script"),
];

const SUBCOMMAND_PROGRAM = [
  ...pairs("npm", "exec x"),
  ...pairs("pnpm", "exec dlx"),
  ...pairs("yarn", "exec dlx"),
  ...pairs("bun", "x"),
  ...pairs("uv", "run"),
  ...["poetry run", "pipenv run", "pdm run", "hatch run", "rye run", "pipx run", "bundle exec", "dotnet exec"],
];

const FORMS: ReadonlyMap<string, CommandForm> = new Map([
  ...ARGUMENTS.map((name) => [name, "arguments"] as const),
  ...SUBCOMMAND.map((name) => [name, "subcommand"] as const),
  ...SCRIPT.map((name) => [name, "script"] as const),
  ...NAME.map((name) => [name, "name"] as const),
  ...toWords("npx pnpx bunx uvx").map((name) => [name, "program"] as const),
  ...SUBCOMMAND_PROGRAM.map((name) => [name, "subcommand program"] as const),
  ...["mise exec", "direnv exec", "nix run", "nix shell", "nix develop"].map((name) => [name, "anything"] as const),
  ...ANYTHING.map((name) => [name, "anything"] as const),
]);

const DESTRUCTIVE: ReadonlySet<string> = new Set([
  ...toWords("rm rmdir unlink shred dd mv cp ln install chmod chown chgrp truncate tee kill pkill killall curl wget"),
  ...toWords("scp rsync nc ncat mkfs mount umount reboot shutdown"),
  ...pairs("git", "branch checkout clean push reset restore rm stash switch tag"),
  ...pairs("npm", "publish unpublish"),
  ...pairs("pnpm", "publish"),
  ...pairs("yarn", "publish"),
  ...pairs("cargo", "publish"),
  ...pairs("docker", "rm rmi system volume push"),
  ...pairs("podman", "rm rmi system volume push"),
  ...pairs("kubectl", "apply delete"),
  ...pairs("terraform", "apply destroy"),
  ...toWords("gh glab aws gcloud az"),
]);
