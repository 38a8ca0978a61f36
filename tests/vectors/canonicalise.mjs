// Fills in the canonical text, the digest and the keys of manifests.json: `node tests/vectors/canonicalise.mjs`.
//
// RFC 8785 is defined by what ECMAScript does, so that this is the reference and shares nothing with the Python code.
// A digest written as "@title" stands for the digest of that manifest, which comes before.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("manifests.json", import.meta.url);
const vectors = JSON.parse(readFileSync(file, "utf8"));

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

const digest = (text) => `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`;
const digests = {};

function resolved(value) {
  if (typeof value === "string" && value.startsWith("@")) return digests[value.slice(1)];
  if (Array.isArray(value)) return value.map(resolved);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolved(member)]));
}

for (const vector of vectors.manifests) {
  vector.manifest = resolved(vector.manifest);
  const { apiVersion, kind, spec } = vector.manifest;
  vector.canonical = canonical({ apiVersion, kind, spec });
  vector.digest = digests[vector.title] = digest(vector.canonical);
}

for (const group of vectors.keys) {
  const spec = (title) => vectors.manifests.find((vector) => vector.title === title).manifest.spec;
  const { workloadDigest, protocolDigest, environmentDigest } = spec(group.run);
  const { operationSpecDigest, correctness } = spec(group.workload);
  group.correctnessKey = digest(canonical({ correctness }));
  group.comparisonKey = digest(
    canonical({
      v: 1,
      operation: operationSpecDigest,
      workload: workloadDigest,
      protocol: protocolDigest,
      environment: environmentDigest,
      correctness: group.correctnessKey,
      metric: group.metric,
    }),
  );
}

writeFileSync(file, `${JSON.stringify(vectors, null, 1)}\n`);
