/** Ways to drive an agent. */
export { apiBackend, type ApiBackendOptions } from "./api.ts";
