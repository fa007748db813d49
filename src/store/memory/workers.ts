/** Worker records and shared settings in memory. */
import type { SharedSetting, StoredWorker, WorkerRequest } from "../../domain/index.ts";

export class MemoryWorkers {
  readonly #workers = new Map<string, StoredWorker>();
  readonly #settings = new Map<string, string>();

  save(worker: Omit<StoredWorker, "request">): WorkerRequest | undefined {
    const request = this.#workers.get(worker.id)?.request;
    const { request: _, ...record } = structuredClone(worker) as StoredWorker;
    this.#workers.set(worker.id, { ...record, ...(request !== undefined && { request }) });
    return request;
  }

  list(): readonly StoredWorker[] {
    return Array.from(this.#workers.values(), (worker) => structuredClone(worker));
  }

  ask(id: string, request: WorkerRequest): boolean {
    const worker = this.#workers.get(id);
    if (worker === undefined) return false;
    this.#workers.set(id, { ...worker, request: worker.request === "stop" ? "stop" : request });
    return true;
  }

  remove(id: string): void {
    this.#workers.delete(id);
  }

  forget(before: number): void {
    for (const [id, { until }] of this.#workers) if (until < before) this.#workers.delete(id);
  }

  agreeOnSetting({ name, value, replace = false }: SharedSetting): string {
    const current = replace ? value : (this.#settings.get(name) ?? value);
    this.#settings.set(name, current);
    return current;
  }
}
