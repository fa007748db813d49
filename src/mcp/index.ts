/** MCP servers as tool sources: the interface for the rest of Rookery. */
export { LoginNeeded, type Authorizer, type LoginOptions } from "./authorizer.ts";
export { splitToolName, toolName } from "./names.ts";
export { BOUNDS, type Bounds, type SamplingContext, type ServersOptions } from "./options.ts";
export {
  SamplingRefused,
  type SamplingMessage,
  type SamplingPart,
  type SamplingReply,
  type SamplingRequest,
} from "./sampling.ts";
export { openServers, type McpServers } from "./servers.ts";
