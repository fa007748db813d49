/** What a client serves to an agent: files and commands, within the session's folders and behind a gate. */
export { serveFiles, type ServeFilesOptions, type ServedFiles } from "./serve-files.ts";
export type { Gate, GateRequest, ServeContext } from "./gate.ts";
export { serveTerminals, type ServeTerminalsOptions, type ServedTerminals } from "./serve-terminals.ts";
