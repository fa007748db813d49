/**
 * Measurements from inside a store, for metrics. They are published on channels of Node's `diagnostics_channel`, which
 * cost nothing while nobody subscribes.
 */
import { channel, subscribe, unsubscribe } from "node:diagnostics_channel";

/** A group commit of a store. */
export interface GroupMeasurement {
  /** How many appends shared the commit. */
  readonly appends: number;
  /** The total size of their events. */
  readonly bytes: number;
}

/** A connection to a database was opened, could not be opened, or was lost. */
export interface ConnectionMeasurement {
  readonly state: "opened" | "failed" | "lost";
}

export const groupCommits = typedChannel<GroupMeasurement>("rookery:store.group");
export const storeConnections = typedChannel<ConnectionMeasurement>("rookery:store.connection");

export interface MeasurementChannel<T> {
  publish(measurement: T): void;
  /** Dispose the result to unsubscribe. */
  subscribe(listener: (measurement: T) => void): Disposable;
}

function typedChannel<T>(name: string): MeasurementChannel<T> {
  const created = channel(name);
  return {
    publish(measurement) {
      if (created.hasSubscribers) created.publish(measurement);
    },
    subscribe(listener) {
      const onMessage = (message: unknown): void => listener(message as T);
      subscribe(name, onMessage);
      return {
        [Symbol.dispose]() {
          unsubscribe(name, onMessage);
        },
      };
    },
  };
}
