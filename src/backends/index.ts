/** Ways to drive an agent. */
export { acpBackend, type AcpBackendOptions } from "./acp/backend.ts";
export type { Wanted } from "./equipment.ts";
export { withoutSecrets } from "./secrets.ts";
export { toolsOnlyBackend } from "./tools-only.ts";
export { apiBackend, type ApiBackendOptions } from "./api.ts";
