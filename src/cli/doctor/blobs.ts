/** Checks the storage of large blobs, if the configuration names one. */
import { readBlobsConfig } from "../../config/blobs-config.ts";
import { messageOf } from "../../domain/errors.ts";
import { formatBytes } from "../format.ts";
import type { Io } from "../io.ts";
import type { Finding } from "./finding.ts";

/** Puts, gets and deletes an object. Never contains a credential. */
export async function checkBlobs({ env }: Pick<Io, "env">): Promise<Finding[]> {
  const subject = "blobs";
  try {
    const configured = await readBlobsConfig(env);
    if (configured === undefined) return [];
    const { probeS3Blobs } = await import("../../store/blobs/s3/open.ts");
    const { where, latency, remaining } = await probeS3Blobs(configured, new AbortController().signal);
    const detail = `${where}, above ${formatBytes(configured.over)}; wrote and read an object in ${latency.toFixed(0)} ms`;
    if (remaining === undefined) return [{ subject, status: "ok", detail }];
    const advice = "delete it, and allow s3:DeleteObject for this check; nothing else needs that permission";
    return [{ subject, status: "warning", detail: `${detail}, but could not delete ${remaining}`, advice }];
  } catch (error) {
    return [{ subject, status: "problem", detail: messageOf(error) }];
  }
}
