import { expect, it } from "vitest";
import { describeS3, parseS3Url, toObjectUrl } from "./location.ts";

it.each([
  ["s3://bucket", "https://bucket.s3.us-east-1.amazonaws.com/k"],
  ["s3://bucket/", "https://bucket.s3.us-east-1.amazonaws.com/k"],
  ["s3://bucket/a/b.c/?region=eu-west-1", "https://bucket.s3.eu-west-1.amazonaws.com/a/b.c/k"],
  ["s3://bucket?path_style=true", "https://s3.us-east-1.amazonaws.com/bucket/k"],
  ["s3://with.dots", "https://s3.us-east-1.amazonaws.com/with.dots/k"],
  ["s3://bucket?endpoint=https://minio.example:9000", "https://minio.example:9000/bucket/k"],
  ["s3://bucket?endpoint=https%3A%2F%2Fminio.example%2Fs3%2F", "https://minio.example/s3/bucket/k"],
  ["s3://bucket?endpoint=https://r2.example&path_style=false&region=auto", "https://bucket.r2.example/k"],
  ["s3://bucket?endpoint=http://127.0.0.1:9000", "http://127.0.0.1:9000/bucket/k"],
  ["s3://bucket?endpoint=http://[::1]:9000", "http://[::1]:9000/bucket/k"],
  ["s3://bucket?endpoint=http://localhost:9000", "http://localhost:9000/bucket/k"],
  ["s3://bucket?endpoint=http://minio.lan&allow_http=true", "http://minio.lan/bucket/k"],
  ["S3://Bucket_1/P", "https://Bucket_1.s3.us-east-1.amazonaws.com/P/k"],
])("finds the objects of %s", (url, expected) => {
  expect(toObjectUrl(parseS3Url(url), "k")).toBe(expected);
});

it.each([
  ["", /is not a URL of S3: write s3:/],
  ["bucket", /is not a URL of S3/],
  ["https://bucket.s3.amazonaws.com", /is not a URL of S3/],
  ["s3:bucket", /is not a URL of S3/],
  ["s3://", /valid bucket|not a URL/],
  ["s3:///prefix", /names no valid bucket/],
  ["s3://ab", /names no valid bucket/],
  ["s3://bucket:9000", /names no valid bucket/],
  ["s3://-bucket", /names no valid bucket/],
  ["s3://AKIAHIDDEN:hidden@bucket", /contains credentials: remove them/],
  ["s3://bucket?endpoint=https://me:hidden@host", /contains credentials in its endpoint/],
  ["s3://bucket?secret=hidden", /does not support the parameter "secret"/],
  ["s3://bucket?region=eu%2Fhidden", /has an invalid region/],
  ["s3://bucket?endpoint=hidden", /has an invalid endpoint/],
  ["s3://bucket?endpoint=ftp://hidden", /has an invalid endpoint/],
  ["s3://bucket?endpoint=https://host/?hidden", /has an invalid endpoint/],
  ["s3://bucket?endpoint=http://hidden.example", /has an endpoint without TLS: use https, or add allow_http=true/],
  ["s3://bucket?endpoint=http://128.0.0.1&allow_http=false", /has an endpoint without TLS/],
  ["s3://bucket?path_style=yes", /has an invalid path_style: write path_style=true or =false/],
  ["s3://bucket/a//b", /has an invalid prefix/],
  ["s3://bucket/a%20b", /has an invalid prefix/],
  [`s3://bucket/${"a".repeat(513)}`, /has an invalid prefix/],
])("refuses %j without repeating it", (url, message) => {
  const parse = () => parseS3Url(url);
  expect(parse).toThrow(message);
  expect(parse).toThrow(expect.objectContaining({ code: "config_invalid" }) as Error);
  expect(parse).not.toThrow(/hidden/i);
});

it("takes the region of the environment if the URL has none, and names the bucket and server", () => {
  const location = parseS3Url("s3://bucket/prefix", "eu-north-1");
  expect(location.base).toBe("https://bucket.s3.eu-north-1.amazonaws.com");
  expect(describeS3(location)).toBe("the bucket bucket at bucket.s3.eu-north-1.amazonaws.com");
});
