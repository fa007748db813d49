/** Why a login did not come about, in words for the person; the server's name is put in front of them. */
export class LoginFailure extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.name = "LoginFailure";
  }
}

/** The words for anything that was thrown on the way, also by the MCP SDK. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("issues" in error && Array.isArray(error.issues)) return error.issues.slice(0, 3).map(issueText).join("; ");
  const { errorCode } = error as { errorCode?: unknown };
  if (typeof errorCode === "string") return clean(error.message === "" ? errorCode : `${errorCode}: ${error.message}`);
  return clean(error.message);
}

function issueText(issue: { path?: unknown[]; message?: string }): string {
  return clean(`${issue.path?.join(".") ?? "it"}: ${issue.message ?? "is not right"}`);
}

/** One line, bounded: it may hold what a stranger wrote. */
function clean(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ").slice(0, 300);
}
