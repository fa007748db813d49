/** The table of all routes. */
import type { HttpRoute } from "../route.ts";
import { blobRoutes } from "./blobs.ts";
import { conversationRoutes } from "./conversation.ts";
import { demoRoutes } from "./demo.ts";
import { eventRoutes } from "./events.ts";
import { inputRoutes } from "./inputs.ts";
import { mcpLoginRoutes } from "./mcp-logins.ts";
import { requestRoutes } from "./requests.ts";
import { rosterRoutes } from "./roster.ts";
import { searchRoutes } from "./search.ts";
import { serverRoutes } from "./server.ts";
import { sessionDiffRoutes } from "./session-diff.ts";
import { sessionStateRoutes } from "./session-state.ts";
import { sessionRoutes } from "./sessions.ts";
import { setupRoutes } from "./setup.ts";
import { taskRoutes } from "./tasks.ts";
import { usageRoutes } from "./usage.ts";
import { workerRoutes } from "./workers.ts";

export const ROUTES: readonly HttpRoute[] = [
  ...serverRoutes,
  ...rosterRoutes,
  ...sessionRoutes,
  ...sessionStateRoutes,
  ...sessionDiffRoutes,
  ...conversationRoutes,
  ...requestRoutes,
  ...inputRoutes,
  ...eventRoutes,
  ...searchRoutes,
  ...taskRoutes,
  ...demoRoutes,
  ...blobRoutes,
  ...usageRoutes,
  ...setupRoutes,
  ...mcpLoginRoutes,
  ...workerRoutes,
];
