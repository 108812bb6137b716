import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { allPages } from "./pages.ts";

/** Pages for users; other pages are for contributors. */
const PAGES = [...allPages()].filter(([file]) => /^(?:README\.md|docs\/|examples\/)/.test(file));
const RUN = /^sh run$/;
/** A block that no test runs; the info string names the reason. */
const NEEDS = /^sh needs \S/;
const DRAWING = /[│─▶▼]/;

describe.each(PAGES)("%s", (file, { fences }) => {
  test("shell blocks are run by a test or name what they need", () => {
    const commands = fences.filter(({ info }) => /^(?:sh|bash|console|shell)\b/.test(info));
    const unsaid = commands.filter(({ info }) => !RUN.test(info) && !NEEDS.test(info));
    expect(unsaid.map(({ line, info }) => `${file}:${line}: ${info}`)).toEqual([]);
  });

  test("text blocks are outputs, screens or drawings", () => {
    const typed = fences.filter(({ info, body }) => info === "text" && !DRAWING.test(body));
    expect(file === "docs/reference/cli.md" ? [] : typed.map(({ line }) => `${file}:${line}`)).toEqual([]);
  });

  test("YAML and JSON blocks are valid", () => {
    const documents = fences.filter(({ info }) => info === "yaml" || info === "json");
    const wrong = documents.flatMap(({ body, line }) =>
      parseAllDocuments(body).flatMap(({ errors }) => errors.map(({ message }) => `${file}:${line}: ${message}`)),
    );
    expect(wrong).toEqual([]);
  });
});

test("only a few blocks are not run", () => {
  const blocks = PAGES.flatMap(([file, { fences }]) => fences.map((fence) => ({ file, ...fence })));
  const isRunbook = ({ file }: { file: string }): boolean => file.startsWith("docs/runbooks/");
  const needy = blocks.filter((block) => NEEDS.test(block.info) && !isRunbook(block));
  // Runbooks show what to look at in an outage; other tests check that their commands exist.
  expect(new Set(blocks.filter(isRunbook).map(({ info }) => info))).toEqual(new Set(["sh needs a firing alert"]));
  expect(needy.map(({ file, info }) => `${file}: ${info.slice("sh needs ".length)}`).toSorted()).toEqual([
    "README.md: a terminal of its own",
    "README.md: a terminal of its own",
    "docs/README.md: a terminal of its own",
    "docs/faq.md: kind or k3d",
    "docs/guides/backtest-a-policy.md: a Prometheus server",
    "docs/guides/certificates.md: a cluster and Helm",
    "docs/guides/certificates.md: two clusters",
    "docs/guides/gitops.md: kubectl with krew",
    "docs/guides/images.md: Docker or Podman",
    "docs/guides/images.md: a registry and regctl",
    "docs/guides/images.md: built images",
    "docs/guides/images.md: built images",
    "docs/guides/images.md: the package mirror of Debian",
    "docs/guides/install.md: a cluster and Helm",
    "docs/guides/install.md: a cluster and Helm",
    "docs/guides/install.md: a cluster and Helm",
    "docs/guides/install.md: a cluster and Helm",
    "docs/guides/install.md: a cluster and Helm",
    "docs/guides/install.md: a cluster and Helm",
    "docs/guides/install.md: a cluster and Helm",
    "docs/guides/kubernetes-quick-start.md: Docker Desktop",
    "docs/guides/kubernetes-quick-start.md: k3d",
    "docs/guides/kubernetes-quick-start.md: k3s",
    "docs/guides/kubernetes-quick-start.md: kind",
    "docs/guides/local-stack.md: the name of a class runtime",
    "docs/guides/monitor-the-platform.md: Grafana in a cluster",
    "docs/guides/monitor-the-platform.md: a Prometheus",
    "docs/guides/monitor-the-platform.md: the Prometheus Operator",
    "docs/guides/monitor-the-platform.md: the Prometheus Operator",
    "docs/guides/multi-cluster.md: two clusters",
    "docs/guides/real-node.md: root on Linux",
    "docs/guides/run-on-one-machine.md: a container engine",
    "docs/guides/run-on-one-machine.md: a machine with systemd",
    "docs/guides/state.md: a gateway",
    "docs/guides/trace-a-deployment.md: an OTLP receiver",
    "docs/guides/troubleshooting.md: a state store",
    "docs/guides/troubleshooting.md: the key of a deployment",
    "examples/greeter-service/README.md: a container engine, a registry and a cluster that runs images",
  ]);
  expect(blocks.filter(({ info }) => RUN.test(info)).length).toBeGreaterThan(50);
});
