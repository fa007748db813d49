/** The ACP server: makes Rookery usable as an agent in editors. */
export { serveAcpClient, type AcpServerOptions } from "./agent-server.ts";
