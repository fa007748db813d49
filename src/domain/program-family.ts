/** The agent programs that Rookery knows by name. */

export const PROGRAM_FAMILIES = ["claude", "codex", "gemini", "opencode"] as const;

/** Determines which files of a repository a program obeys, and which vendor's credentials it gets. */
export type ProgramFamily = (typeof PROGRAM_FAMILIES)[number];
