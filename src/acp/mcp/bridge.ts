/** The bridge program: an MCP server on stdio that passes everything to one on HTTP. */
import { runBridge } from "./run-bridge.ts";

const code = await runBridge(process);
process.stdout.write("", () => process.exit(code)); // connections that are kept alive would hold it up
