/** Rookery as an MCP server for orchestration: a model starts, follows and merges tasks. */
export { taskServer } from "./task-server.ts";
export type { TaskServerOptions } from "./task-service.ts";
