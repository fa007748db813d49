/** What an agent can do. */
export { filtered, passes, type ToolFilter } from "./filter.ts";
