import { embeddedServer } from "@oaas/kube-apiserver";
import { listenHttp } from "@oaas/kube-apiserver/node";
import { realAmbient } from "@oaas/foundation/real";
import { makeAuthority } from "@oaas/testkit";

/** An embedded API server in its own process; prints its address and its start time in one line. */
const begun = performance.now();
const authority = makeAuthority("bench");
const issued = authority.issue({ commonName: "kube-apiserver", hosts: ["127.0.0.1"] });
const token = "bench";
const users = new Map([[token, { name: "admin", groups: ["system:masters", "system:authenticated"] }]]);
const { server } = embeddedServer({ ...realAmbient, users });
await server.start();
const { url } = await listenHttp(server, { tls: { ...issued, authority: authority.certificate } });
const readyMs = performance.now() - begun;
process.stdout.write(`${JSON.stringify({ url, token, ca: authority.certificate, readyMs })}\n`);
process.stdin.on("end", () => process.exit(0)).resume();
