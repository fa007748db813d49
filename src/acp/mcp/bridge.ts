/** The bridge program: an MCP server on stdio that passes every message to a server on HTTP. */
import { runBridge } from "./run-bridge.ts";

const code = await runBridge(process);
process.stdout.write("", () => process.exit(code)); // exits even if HTTP connections are kept alive
