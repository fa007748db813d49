/** What is known to be broken in the programs, as it was seen: by version, and what Rookery does about it. */
import type { ProgramKind } from "../locate.ts";
import { compareVersions } from "./version.ts";

interface Known {
  readonly kind: ProgramKind;
  /** The first version that it is known of; all before the last if not said. */
  readonly from?: string;
  /** The last version that it was seen in. */
  readonly upTo: string;
  readonly says: string;
}

const KNOWN: readonly Known[] = [
  {
    kind: "claude-code",
    upTo: "2.1.325",
    says: 'as root it refuses mode = "bypassPermissions" (exit 1) unless IS_SANDBOX=1 is set',
  },
  {
    kind: "claude-code",
    upTo: "2.1.325",
    says: "without a version, npm on Node 20 installs an older one that fits its engines: pin it",
  },
  {
    kind: "codex",
    upTo: "0.166.0",
    says: "a model that it does not know makes it tell one error about missing metadata, which is harmless",
  },
  {
    kind: "gemini-cli",
    upTo: "0.61.0",
    says: "loading a session over ACP destroys its own record of it: Rookery goes on headless, or from its log",
  },
  {
    kind: "gemini-cli",
    upTo: "0.61.0",
    says: "it starts itself again in a child that SIGTERM does not end in time: Rookery has it not do so",
  },
  {
    kind: "opencode",
    upTo: "1.18.33",
    says: "over ACP it writes files through its client even where that has said it cannot: Rookery serves it",
  },
];

/** Nothing is said of a version that nobody has looked at. */
export function knownOf(kind: ProgramKind, version: string | undefined): string[] {
  if (version === undefined) return [];
  return KNOWN.filter(
    ({ kind: of, from = "0.0.0", upTo }) =>
      of === kind && compareVersions(version, from) >= 0 && compareVersions(version, upTo) <= 0,
  ).map(({ says }) => says);
}
