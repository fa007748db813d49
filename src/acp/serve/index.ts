/** Serves files and commands to an agent, within the session's directories and subject to a gate. */
export { serveFiles, type ServeFilesOptions, type ServedFiles } from "./serve-files.ts";
export type { Gate, GateRequest, ServeContext } from "./gate.ts";
export { serveTerminals, type ServeTerminalsOptions, type ServedTerminals } from "./serve-terminals.ts";
