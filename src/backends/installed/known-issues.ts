/** Known issues of agent programs by version, and how Rookery handles them. */
import type { ProgramKind } from "../locate.ts";
import { compareVersions } from "./version.ts";

interface KnownIssue {
  readonly kind: ProgramKind;
  /** The first affected version. Default: all versions. */
  readonly from?: string;
  /** The last version in which it was observed. */
  readonly upTo: string;
  readonly text: string;
}

const KNOWN_ISSUES: readonly KnownIssue[] = [
  {
    kind: "claude-code",
    upTo: "2.1.325",
    text: 'as root it refuses mode = "bypassPermissions" (exit 1) unless IS_SANDBOX=1 is set',
  },
  {
    kind: "claude-code",
    upTo: "2.1.325",
    text: "on Node 20, npm without an explicit version installs an older release that matches its engines; pin the version",
  },
  {
    kind: "codex",
    upTo: "0.166.0",
    text: "an unknown model makes it report an error about missing metadata, which is harmless",
  },
  {
    kind: "gemini-cli",
    upTo: "0.61.0",
    text: "loading a session over ACP destroys the program's record of it; Rookery resumes headless, or from its own log",
  },
  {
    kind: "gemini-cli",
    upTo: "0.61.0",
    text: "it relaunches itself in a child process that does not exit on SIGTERM in time; Rookery disables the relaunch",
  },
  {
    kind: "opencode",
    upTo: "1.18.33",
    text: "over ACP it writes files through the client even if the client does not offer that; Rookery serves file writes for it",
  },
];

/** Returns the known issues of the version; none if the version is unknown. */
export function findKnownIssues(kind: ProgramKind, version: string | undefined): string[] {
  if (version === undefined) return [];
  return KNOWN_ISSUES.filter(
    ({ kind: of, from = "0.0.0", upTo }) =>
      of === kind && compareVersions(version, from) >= 0 && compareVersions(version, upTo) <= 0,
  ).map(({ text }) => text);
}
