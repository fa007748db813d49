/** Opens a page in the browser of the person at the terminal. The address is printed as well, so failing is harmless. */
import { spawn } from "node:child_process";
import { commandChildEnvironment } from "../config/own-credentials.ts";
import { type Io, isPersonPresent } from "./io.ts";

/** Returns the program that opens a page here, or undefined without a desktop or a person. */
export function browserCommand(
  { env }: Pick<Io, "env">,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if ((env["ROOKERY_NO_BROWSER"] ?? "") !== "" || (env["SSH_CONNECTION"] ?? "") !== "" || (env["CI"] ?? "") !== "") {
    return undefined;
  }
  if (platform === "darwin") return "open";
  const hasDesktop = (env["DISPLAY"] ?? "") !== "" || (env["WAYLAND_DISPLAY"] ?? "") !== "";
  return hasDesktop ? "xdg-open" : undefined;
}

/** Only for web addresses: another scheme could start any program. Never rejects. */
export async function openBrowser(io: Io, url: string): Promise<void> {
  const command = isPersonPresent(io) && /^https?:\/\//.test(url) ? browserCommand(io) : undefined;
  if (command === undefined) return;
  const env = await commandChildEnvironment(io.env);
  const child = spawn(command, [url], { stdio: "ignore", detached: true, env });
  child.once("error", () => undefined); // not installed
  child.unref();
}
