/** Measures a process: metrics for Prometheus, and traces and metrics for OpenTelemetry. */
export { ClusterMetrics } from "./cluster-metrics.ts";
export { serveMetrics, type MetricsListener, type MetricsListenerOptions } from "./listener.ts";
export { DURATION_BOUNDS, Meter, type Counter, type Histogram, type MetricFamily } from "./meter.ts";
export { openTelemetry, type OtlpOptions, type Telemetry, type TelemetryOptions } from "./open-telemetry.ts";
export { measureProcess } from "./process-metrics.ts";
export { formatPrometheus, PROMETHEUS_TYPE } from "./prometheus.ts";
