/** Why a login failed, as a message for people. Callers put the server's name in front of it. */
export class LoginFailure extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.name = "LoginFailure";
  }
}

/** Formats any error of the login flow, including those of the MCP SDK. */
export function formatOAuthLoginError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("issues" in error && Array.isArray(error.issues)) return error.issues.slice(0, 3).map(formatIssue).join("; ");
  const { errorCode } = error as { errorCode?: unknown };
  if (typeof errorCode === "string")
    return toBoundedLine(error.message === "" ? errorCode : `${errorCode}: ${error.message}`);
  return toBoundedLine(error.message);
}

function formatIssue(issue: { path?: unknown[]; message?: string }): string {
  return toBoundedLine(`${issue.path?.join(".") ?? "it"}: ${issue.message ?? "is invalid"}`);
}

/** One bounded line, because it may contain text from a server. */
function toBoundedLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ").slice(0, 300);
}
