import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import {
  addGatewayKinds,
  addMonitorKinds,
  componentFile,
  describeWith,
  eventually,
  makeRunFolder,
  startKubernetes,
  startProcess,
  type KubernetesUnderTest,
  type ProcessUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { acceptedReports, applyClass, clusterHealth } from "./src/apply-class.ts";
import { CHART_NAMES, CHARTS, comparable, documentedExamples, EXAMPLES as EXAMPLES_FOLDER, Helm } from "./src/helm.ts";
import { Installation } from "./src/installed-pods.ts";
import { manifestsOf } from "./src/kustomize.ts";

const NAMESPACE = "oaas-system";
const GUIDES = path.join(import.meta.dirname, "..", "..", "docs", "guides");
const EXAMPLES = await documentedExamples();
const { version } = parse(await readFile(path.join(CHARTS, "oaas", "Chart.yaml"), "utf8")) as { version: string };

const STORAGE = path.join(import.meta.dirname, "src", "storage.yaml");

describeWith(["helm"], "Helm charts without a cluster", () => {
  let folder: RunFolder;
  let helm: Helm;
  let charts: string;
  beforeAll(async () => {
    folder = await makeRunFolder("helm-charts");
    helm = new Helm(folder.path);
    charts = await helm.copyCharts();
  });
  afterAll(() => folder?.remove());

  test.each(CHART_NAMES)("chart %s passes lint", async (chart) => {
    await helm.call("lint", "--strict", path.join(charts, chart));
  });

  test.each(EXAMPLES)("renders $name as recorded", async ({ name, chart, values }) => {
    const crds = chart === "oaas" ? ["--set", "crds.enabled=false"] : [];
    const file = values === undefined ? [] : ["--values", values];
    const rendered = await helm.call("template", "oaas", path.join(charts, chart), "-n", NAMESPACE, ...file, ...crds);
    await expect(comparable(rendered, version)).toMatchFileSnapshot(`testdata/${name}.golden.yaml`);
  });

  test.each([
    { chart: "oaas-class-runtime-manager", set: "replicas=two", want: /replicas.*want integer/s },
    {
      chart: "oaas-class-runtime-manager",
      set: "profile=prod",
      want: /profile.*must be one of 'dev', 'edge', 'full'/s,
    },
    {
      chart: "oaas-class-runtime-manager",
      set: "settings.OPRC_CRM_FEATURES_HPA=7",
      want: /settings\/OPRC_CRM_FEATURES_HPA.*want boolean/s,
    },
    {
      chart: "oaas-class-runtime-manager",
      set: "settings.OPRC_CRM_FEATURE_HPA=true",
      want: /settings.*OPRC_CRM_FEATURE_HPA.* not allowed/s,
    },
    { chart: "oaas-class-runtime-manager", set: "settings.HTTP_PORT=80", want: /settings.*HTTP_PORT.* not allowed/s },
    {
      chart: "oaas-class-runtime-manager",
      set: "settings.OPRC_CRM_PROM_TOKEN=t",
      want: /settings.*OPRC_CRM_PROM_TOKEN.* not allowed/s,
    },
    {
      chart: "oaas-class-runtime-manager",
      set: "settings.OPRC_CRM_LIMITS_CONCURRENCY=0",
      want: /OPRC_CRM_LIMITS_CONCURRENCY.*minimum: got 0, want 1/s,
    },
    {
      chart: "oaas-class-runtime-manager",
      set: "certificates.provider=none",
      want: /callers need a token: set tokenSecret\.name/,
    },
    { chart: "oaas-class-runtime-manager", set: "namespaces.all=false", want: /namespaces\.list is empty/ },
    {
      chart: "oaas-package-manager",
      set: "storage.type=memory",
      want: /storage\/type.*must be one of 'sqlite', 'etcd'/s,
    },
    { chart: "oaas-package-manager", set: "storage.type=etcd", want: /storage\.etcd\.endpoints is empty/ },
    {
      chart: "oaas-package-manager",
      set: "clusters.edge.labels.env=edge",
      want: /clusters\/edge.*missing property 'url'/s,
    },
    {
      chart: "oaas-package-manager",
      set: "clusters.edge.url=crm",
      want: /clusters\/edge\/url.*does not match pattern/s,
    },
    {
      chart: "oaas-package-manager",
      set: "reports.enabled=true",
      want: /reports\.enabled needs a certificate: set reports\.tlsSecret/,
    },
    {
      chart: "oaas-package-manager",
      set: "settings.OPRC_PM_SECURITY_GRPC_TLS_REPORTERS=a",
      want: /settings.*REPORTERS.* not allowed/s,
    },
    {
      chart: "oaas-class-runtime-manager",
      set: "reports.url=oprc-pm:8081",
      want: /reports\/url.*does not match pattern/s,
    },
    {
      chart: "oaas-class-runtime-manager",
      set: "reports.url=https://pm,reports.tls=secret",
      want: /reports\.tlsSecret is empty: name the Secret/,
    },
    {
      chart: "oaas-package-manager",
      set: "extraEnv[0].name=AUTH_MODE,extraEnv[0].value=off",
      want: /extraEnv sets AUTH_MODE, which the chart sets itself/,
    },
    { chart: "oaas-package-manager", set: "extraEnv[0].name=AUTH_TOKENS_FILE", want: /extraEnv sets AUTH_TOKENS_FILE/ },
    {
      chart: "oaas-class-runtime-manager",
      set: "extraEnv[0].name=OPRC_CRM_SECURITY_TOKEN_FILE",
      want: /extraEnv sets OPRC_CRM_SECURITY_TOKEN_FILE, which the chart sets itself/,
    },
    {
      chart: "oaas-package-manager",
      set: "extraVolumes[0].emptyDir.medium=x",
      want: /extraVolumes\/0.*missing property 'name'/s,
    },
    {
      chart: "oaas-class-runtime-manager",
      set: "extraVolumeMounts[0].name=a,extraVolumeMounts[0].mountPath=a",
      want: /extraVolumeMounts\/0\/mountPath.*does not match pattern/s,
    },
    {
      chart: "oaas-package-manager",
      set: "httpRoute.hostnames={oaas_example}",
      want: /httpRoute\/hostnames\/0.*does not match pattern/s,
    },
    {
      chart: "oaas-package-manager",
      set: "httpRoute.parentRefs[0].namespace=gateways",
      want: /httpRoute\/parentRefs\/0.*missing property 'name'/s,
    },
    {
      chart: "oaas-package-manager",
      set: "httpRoute.parentRefs[0].name=public,httpRoute.parentRefs[0].port=0",
      want: /httpRoute\/parentRefs\/0\/port.*minimum: got 0, want 1/s,
    },
    {
      chart: "oaas-package-manager",
      set: "httpRoute.enabled=true",
      want: /httpRoute\.parentRefs is empty: name the Gateway/,
    },
    { chart: "oaas-package-manager", set: "storage.size=much", want: /storage\/size.*does not match pattern/s },
    {
      chart: "oaas-package-manager",
      set: "storage.whenDeleted=Recycle",
      want: /storage\/whenDeleted.*must be one of 'Retain', 'Delete'/s,
    },
    {
      chart: "oaas-package-manager",
      set: "topologySpreadConstraints[0].maxSkew=1",
      want: /topologySpreadConstraints\/0.*missing properties/s,
    },
    { chart: "oaas-package-manager", set: "image.tga=1", want: /image.*'tga' not allowed/s },
    { chart: "oaas-package-manager", set: "settings.DEPLOY_WAIT=soon", want: /settings\/DEPLOY_WAIT/ },
    { chart: "oaas-data-plane", set: "gateway.enabled=false", want: /router\.image has no default.*three images/ },
    {
      chart: "oaas-data-plane",
      set: "router.image.repository=router,router.image.tag=v1",
      want: /gateway\.image has no default: set gateway\.image\.repository, and tag or digest/,
    },
    {
      chart: "oaas",
      set: "dataPlane.enabled=true",
      want: /router\.image has no default|gateway\.image has no default/,
    },
    {
      chart: "oaas-data-plane",
      set: "router.peers={cloud.example:17447}",
      want: /router\/peers\/0.*does not match pattern/s,
    },
    {
      chart: "oaas-data-plane",
      set: "gateway.enabled=false,router.peers={tls/cloud.example:17447}",
      want: /router\.peers contains tls\/cloud\.example:17447, but router\.tls\.secretName is empty/,
    },
    {
      chart: "oaas-data-plane",
      set: "gateway.enabled=false,router.tls.secretName=t,router.peers={tcp/cloud.example:17447}",
      want: /router\.peers contains tcp\/cloud\.example:17447.*write tls\//,
    },
    {
      chart: "oaas-data-plane",
      set: "gateway.enabled=false,router.external.enabled=true",
      want: /router\.external\.from is empty and router\.tls is off/,
    },
    { chart: "oaas-data-plane", set: "router.enabled=false", want: /gateway\.routers is empty/ },
    {
      chart: "oaas-data-plane",
      set: "router.enabled=false,gateway.routers={tcp/r:17447},gateway.image.repository=g,gateway.image.tag=v1,gateway.ingress.enabled=true",
      want: /gateway\.networkPolicy\.from is empty/,
    },
    {
      chart: "oaas-data-plane",
      set: "gateway.enabled=false,router.image.repository=r,router.image.tag=v1,router.extraEnv[0].name=OPRC_ZENOH_PEERS",
      want: /extraEnv sets OPRC_ZENOH_PEERS, which the chart sets itself/,
    },
    { chart: "oaas", set: "packageManager.replicas=-1", want: /replicas.*minimum: got -1, want 1/s },
    { chart: "oaas", set: "packagemanager.replicas=1", want: /'packagemanager' not allowed/ },
  ])("rejects $chart with $set, and names the value", async ({ chart, set, want }) => {
    const { exitCode, stderr } = await helm.run("template", path.join(charts, chart), "--set", set);
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(want);
  });

  test.each([
    { guide: "install.md", heading: "data-plane.yaml", chart: "oaas" },
    { guide: "multi-cluster.md", heading: "values of oaas-data-plane in cloud", chart: "oaas-data-plane" },
    {
      guide: "multi-cluster.md",
      heading: "values of oaas-class-runtime-manager in both clusters",
      chart: "oaas-class-runtime-manager",
    },
  ])("the values in $guide under '$heading' render $chart", async ({ guide, heading, chart }) => {
    const page = await readFile(path.join(GUIDES, guide), "utf8");
    const values = page.split("```yaml\n").find((block) => block.startsWith(`# ${heading}\n`));
    expect(values).toBeDefined();
    const file = path.join(folder.path, "guide.yaml");
    await writeFile(file, values?.split("```")[0] ?? "");
    const rendered = await helm.call("template", "oaas", path.join(charts, chart), "--values", file);
    for (const image of values?.match(/(?<=repository: )[\w/-]+|registry\.example\/data-plane\/odgm:1\.0/g) ?? [])
      expect(rendered).toContain(image);
    if (chart !== "oaas-class-runtime-manager")
      expect(rendered).toMatch(/kind: StatefulSet\nmetadata:\n {2}name: oprc-router/);
  });

  test("rejects a cluster that is too old, until it is upgraded", async () => {
    const { stderr } = await helm.run("template", path.join(charts, "oaas"), "--kube-version", "1.27.0");
    expect(stderr).toMatch(/requires kubeVersion: >=1\.30/);
    await helm.call("template", path.join(charts, "oaas"), "--kube-version", "1.30.0");
  });
});

describeWith(["helm", "kubernetes", "kwok", "gateway-api-crds"], "Helm charts on a real API server", () => {
  let folder: RunFolder;
  let cluster: KubernetesUnderTest;
  let helm: Helm;
  let charts: string;
  let installation: Installation | undefined;

  const kubectl = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr, exitCode } = await cluster.kubectl(args);
    if (exitCode !== 0) throw new Error(stderr);
    return stdout;
  };
  const objects = async (): Promise<string> =>
    kubectl(
      "get",
      "deployments,statefulsets,services,secrets,configmaps,serviceaccounts,roles,rolebindings,networkpolicies,poddisruptionbudgets,jobs",
      ..."-n oaas-system --ignore-not-found -o name".split(" "),
    );

  beforeAll(async () => {
    folder = await makeRunFolder("helm-install");
    cluster = await startKubernetes({ controllerManager: true, scheduler: true, kwokNodes: 2 });
    helm = new Helm(folder.path, cluster.kubeconfig);
    charts = await helm.copyCharts();
    await kubectl("create", "namespace", NAMESPACE);
    await kubectl("apply", "-f", STORAGE);
    const levels = ["enforce", "warn", "audit"].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
    await kubectl("label", "namespace", NAMESPACE, ...levels);
  });
  afterAll(async () => {
    await installation?.close();
    await cluster?.close();
    await folder?.remove();
  });

  test("installs everything without a warning, with pods that Pod Security admits", async () => {
    // The first block of the guide, as it is there.
    const guide = await readFile(path.join(GUIDES, "install.md"), "utf8");
    const commands = /```sh needs a cluster and Helm\n(.*?)```/s.exec(guide)?.[1] ?? "";
    expect(commands.trim().split("\n")).toHaveLength(3);
    const { stderr, exitCode, stdout } = await helm.shell(`${commands}\nprintf %s "token=$OAAS_TOKEN"`);
    expect({ stderr, exitCode }).toEqual({ stderr: expect.not.stringMatching(/warning/i), exitCode: 0 });
    expect(stdout).toMatch(/token=[A-Za-z0-9]{40}$/);
    await kubectl("-n", NAMESPACE, "rollout", "status", "statefulset/oprc-pm", "--timeout=120s");
    const bound = "jsonpath={.status.phase} {.spec.storageClassName} {.spec.resources.requests.storage}";
    expect(await kubectl("-n", NAMESPACE, "get", "pvc/data-oprc-pm-0", "-o", bound)).toBe("Bound default-class 2Gi");
    await kubectl("-n", NAMESPACE, "rollout", "status", "deployment/oprc-crm", "--timeout=120s");
    expect(await kubectl("get", "events", "-n", NAMESPACE)).not.toMatch(/violates PodSecurity/);
  });

  test("the installed programs find each other over mutual TLS, run a class, and helm test passes", async () => {
    const manifests = manifestsOf(await helm.call("get", "manifest", "oaas", "-n", NAMESPACE));
    const hooks = manifestsOf(await helm.call("get", "hooks", "oaas", "-n", NAMESPACE));
    installation = new Installation({
      cluster,
      folder: folder.path,
      namespace: NAMESPACE,
      manifests: [...manifests, ...hooks],
    });
    const pm = await installation.start("oprc-pm");
    const crm = await installation.start("oprc-crm");
    for (const pod of [pm, crm])
      await eventually(async () => expect(await pod.probe("readinessProbe")).toMatchObject({ status: 200 }), {
        timeoutMs: 120_000,
        what: "readiness",
      });
    const token = Buffer.from(
      await kubectl("-n", NAMESPACE, "get", "secret", "oprc-pm-tokens", "-o", "jsonpath={.data.token}"),
      "base64",
    ).toString();
    await eventually(
      async () => {
        expect(await clusterHealth(pm, token)).toMatch(/"status":"Healthy"/i);
      },
      { timeoutMs: 120_000, what: "the cluster to be healthy" },
    );
    const applied = await applyClass(folder.path, pm, token);
    expect(applied).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("deployment/hello is running") });
    expect(await kubectl("get", "crt", "-A")).toMatch(/available/i);
    await eventually(async () => expect(await acceptedReports(pm)).toBeGreaterThan(0), {
      timeoutMs: 120_000,
      what: "reports of the class runtime manager",
    });
    for (const job of ["oprc-crm-test", "oprc-pm-test"])
      expect(await installation.runJob(job)).toMatchObject({ exitCode: 0 });
    await helm.call("test", "oaas", "-n", NAMESPACE, "--timeout", "120s");
  });

  test("an upgrade keeps certificates and tokens, changes what was asked for, and can be rolled back", async () => {
    const data = async (): Promise<string> =>
      kubectl(
        "-n",
        NAMESPACE,
        "get",
        "secret",
        "-o",
        "jsonpath={range .items[*]}{.metadata.name}={.data}{end}",
        ..."oprc-pm-tokens oprc-pm-tls oprc-crm-tls oaas-authority".split(" "),
      );
    const before = await data();
    expect(before).toContain("tls.crt");
    const replicas = (): Promise<string> =>
      kubectl("-n", NAMESPACE, "get", "deployment/oprc-crm", "-o", "jsonpath={.spec.replicas}");
    const upgrade = await helm.run(
      "upgrade",
      "oaas",
      path.join(charts, "oaas"),
      "-n",
      NAMESPACE,
      "--set",
      "classRuntimeManager.replicas=3",
    );
    expect(upgrade).toMatchObject({ exitCode: 0, stderr: expect.not.stringMatching(/warning/i) });
    expect(await replicas()).toBe("3");
    expect(await data()).toBe(before);
    await helm.call("rollback", "oaas", "1", "-n", NAMESPACE);
    expect(await replicas()).toBe("2");
    expect(await data()).toBe(before);
  });

  test("uninstalling leaves nothing but the definitions and the data of the package manager", async () => {
    await kubectl("delete", "crt", "--all", "-A", "--timeout=120s");
    await installation?.close();
    await helm.call("uninstall", "oaas", "-n", NAMESPACE, "--wait");
    await eventually(async () => {
      const left = (await objects()).split("\n").filter((name) => name !== "");
      // Created by Kubernetes and by leader election; the namespace is the user's.
      expect(
        left.filter(
          (name) => !/serviceaccount\/default|configmap\/(?:kube-root-ca.crt|oprc-crm-availability)/.test(name),
        ),
      ).toEqual([]);
    });
    expect(await kubectl("get", "clusterroles,clusterrolebindings", "-o", "name")).not.toMatch(/oprc|oaas/);
    expect(await kubectl("get", "crd", "-o", "name")).toMatch(/classruntimes\.oaas\.io/);
    expect(await kubectl("get", "pvc", "-n", NAMESPACE, "-o", "name")).toBe("persistentvolumeclaim/data-oprc-pm-0\n");
  });

  test("the volume has the given class, size and annotations, and is deleted with the release if asked for", async () => {
    const namespace = "storage-values";
    await kubectl("create", "namespace", namespace);
    const values = [
      ["storageClassName", "fast"],
      ["size", "20Gi"],
      ["annotations.backup", "daily"],
      ["whenDeleted", "Delete"],
    ].flatMap(([name = "", value = ""]) => ["--set", `storage.${name}=${value}`]);
    await helm.call("install", "pm", path.join(charts, "oaas-package-manager"), "-n", namespace, ...values);
    await kubectl("-n", namespace, "rollout", "status", "statefulset/oprc-pm", "--timeout=120s");
    const claim = ["-n", namespace, "get", "pvc/data-oprc-pm-0", "--ignore-not-found", "-o"];
    const facts =
      "jsonpath={.status.phase} {.spec.storageClassName} {.spec.resources.requests.storage} {.metadata.annotations.backup}";
    expect(await kubectl(...claim, facts)).toBe("Bound fast 20Gi daily");
    await helm.call("uninstall", "pm", "-n", namespace, "--wait");
    await eventually(async () => expect(await kubectl(...claim, "name")).toBe(""), { timeoutMs: 120_000 });
  });

  test("a larger volume replaces the StatefulSet, as the guide says, and keeps claim and data", async () => {
    const namespace = "storage-growth";
    await kubectl("create", "namespace", namespace);
    const chart = path.join(charts, "oaas-package-manager");
    const sized = (size: string): string[] => [
      chart,
      "-n",
      namespace,
      "--set",
      `storage.size=${size},storage.storageClassName=growing`,
    ];
    await helm.call("install", "pm", ...sized("1Gi"));
    await kubectl("-n", namespace, "rollout", "status", "statefulset/oprc-pm", "--timeout=120s");
    const uid = (): Promise<string> =>
      kubectl("-n", namespace, "get", "pvc/data-oprc-pm-0", "-o", "jsonpath={.metadata.uid}");
    const before = await uid();
    const refused = await helm.run("upgrade", "pm", ...sized("3Gi"));
    expect(refused).toMatchObject({ stderr: expect.stringMatching(/updates to statefulset spec.*forbidden/is) });
    await kubectl("-n", namespace, "delete", "statefulset/oprc-pm", "--cascade=orphan");
    const patch = '{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}';
    await kubectl("-n", namespace, "patch", "pvc/data-oprc-pm-0", "--type=merge", "-p", patch);
    await helm.call("upgrade", "pm", ...sized("3Gi"));
    await kubectl("-n", namespace, "rollout", "status", "statefulset/oprc-pm", "--timeout=120s");
    expect(await uid()).toBe(before);
    await helm.call("uninstall", "pm", "-n", namespace, "--wait");
  });

  test("the data plane installs with pods that Pod Security admits, and one Service that managers find", async () => {
    const example = path.join(EXAMPLES_FOLDER, "oaas-data-plane.yaml");
    const chart = path.join(charts, "oaas-data-plane");
    const { stderr, exitCode } = await helm.run("install", "data-plane", chart, "-n", NAMESPACE, "--values", example);
    expect({ stderr, exitCode }).toEqual({ stderr: expect.not.stringMatching(/warning/i), exitCode: 0 });
    for (const workload of ["statefulset/oprc-router", "deployment/oprc-gateway"])
      await kubectl("-n", NAMESPACE, "rollout", "status", workload, "--timeout=120s");
    expect(await kubectl("get", "services", "-A", "-l", "app=router,platform=oaas", "-o", "name")).toBe(
      "service/oprc-router\n",
    );
    await helm.call("uninstall", "data-plane", "-n", NAMESPACE, "--wait");
    expect(await objects()).not.toMatch(/oprc-router|oprc-gateway/);
  });

  test.each(EXAMPLES)("the API server accepts every object of $name", async ({ name, chart }) => {
    await addMonitorKinds(cluster.kubectl);
    await addGatewayKinds(cluster.kubectl);
    for (const namespace of ["team-a", "team-b"]) await cluster.kubectl(["create", "namespace", namespace]);
    const golden = await readFile(path.join(import.meta.dirname, "testdata", `${name}.golden.yaml`), "utf8");
    // The kinds of cert-manager are not installed yet.
    const known = golden.split(/^---$/m).filter((part) => !/^apiVersion: cert-manager/m.test(part));
    const isNamed = (part: string): boolean => /^ {2}namespace: /m.test(part);
    for (const [parts, namespace] of [
      [known.filter((part) => !isNamed(part)), ["-n", NAMESPACE]],
      [known.filter(isNamed), []],
    ] as const) {
      if (parts.every((part) => part.trim() === "")) continue;
      const args = ["apply", "--server-side", "--dry-run=server", "--validate=strict", ...namespace, "-f", "-"];
      const { stderr, exitCode } = await cluster.kubectl(args, { stdin: parts.join("---\n") });
      expect({ chart, stderr, exitCode }).toEqual({ chart, stderr: "", exitCode: 0 });
    }
  });

  describeWith(["cert-manager"], "with cert-manager", () => {
    let certManager: ProcessUnderTest | undefined;
    beforeAll(async () => {
      await kubectl("apply", "--server-side", "-f", componentFile("cert-manager-crds"));
      await kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", componentFile("cert-manager-crds"));
      certManager = await startProcess({
        name: "cert-manager",
        command: componentFile("cert-manager-controller"),
        args: [`-kubeconfig=${cluster.kubeconfig}`],
        cwd: folder.path,
        logFile: path.join(folder.path, "cert-manager.log"),
      });
    });
    afterAll(async () => void (await certManager?.stop(5_000)));

    test("it accepts the objects of the Kustomize component", async () => {
      const file = path.join(
        import.meta.dirname,
        "..",
        "..",
        "deploy",
        "class-runtime-manager",
        "cert-manager",
        "certificates.yaml",
      );
      await kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "-n", NAMESPACE, "-f", file);
    });

    test("the managers use its certificates, and reload renewed ones", async () => {
      const values = ["--set", "classRuntimeManager.certificates.provider=cert-manager"];
      await helm.call("install", "oaas", path.join(charts, "oaas"), "-n", NAMESPACE, ...values);
      await kubectl("-n", NAMESPACE, "wait", "--for=condition=Ready", "certificate", "--all", "--timeout=120s");
      const manifests = manifestsOf(await helm.call("get", "manifest", "oaas", "-n", NAMESPACE));
      const folderOf = await makeRunFolder("helm-cert-manager");
      const installed = new Installation({ cluster, folder: folderOf.path, namespace: NAMESPACE, manifests });
      try {
        const crm = await installed.start("oprc-crm");
        const pm = await installed.start("oprc-pm");
        const token = Buffer.from(
          await kubectl("-n", NAMESPACE, "get", "secret", "oprc-pm-tokens", "-o", "jsonpath={.data.token}"),
          "base64",
        ).toString();
        const isHealthy = async (): Promise<void> => {
          expect(await clusterHealth(pm, token)).toMatch(/"status":"Healthy"/i);
        };
        await eventually(isHealthy, { timeoutMs: 120_000, what: "the cluster to be healthy" });
        const hasReports = async (): Promise<void> => expect(await acceptedReports(pm)).toBeGreaterThan(0);
        const applied = await applyClass(folderOf.path, pm, token);
        expect(applied).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("deployment/hello is running") });
        await eventually(hasReports, { timeoutMs: 120_000, what: "reports of the class runtime manager" });
        // cert-manager issues a new certificate when the Secret is gone.
        const before = await kubectl(
          "-n",
          NAMESPACE,
          "get",
          "secret",
          "oprc-crm-tls",
          "-o",
          "jsonpath={.data.tls\\.crt}",
        );
        await kubectl("-n", NAMESPACE, "delete", "secret", "oprc-crm-tls");
        await eventually(
          async () => {
            const now = await cluster.kubectl([
              "-n",
              NAMESPACE,
              "get",
              "secret",
              "oprc-crm-tls",
              "-o",
              "jsonpath={.data.tls\\.crt}",
            ]);
            expect(now.stdout).not.toBe("");
            expect(now.stdout).not.toBe(before);
          },
          { timeoutMs: 120_000, what: "a new certificate" },
        );
        await eventually(async () => expect(await crm.log()).toContain("certificates reloaded"), { timeoutMs: 60_000 });
        await eventually(isHealthy, { timeoutMs: 60_000 });
      } finally {
        await installed.close();
        await folderOf.remove();
        await helm.call("uninstall", "oaas", "-n", NAMESPACE);
      }
    });
  });
});
