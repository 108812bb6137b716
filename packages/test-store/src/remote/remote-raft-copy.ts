import { conflict, deadlineExceeded, internal, isFault, Fault, type Ambient, type Timer } from "@oaas/foundation";
import { RaftLog, type LogSnapshot, type LogSuffix } from "../network/raft-log.ts";
import { membershipOf, partitionKey, partitionOf, type Shard, type ShardPlace } from "../network/shard.ts";
import { applyChange, type Change, type StoredObject } from "../objects/stored-object.ts";
import type { GroupId, PeerLinks, RaftMessage, WriteError } from "./messages.ts";

/** Time between heartbeats of a leader and announcements of an empty member. */
export const TICK_MS = 100;
/** A member that was not heard from for so long counts as not connected. */
const SILENCE_MS = 500;
/** An empty member waits so long for a leader before it founds a group. */
const FOUND_MS = 1_000;
const ELECTION_MS = 600;
const REQUEST_MS = 5_000;
const NO_LEADER = "Replication error: No leader available for forwarding";

/** What a leader knows of a member. */
interface Follower {
  /** The last entry that its log shares with ours; undefined when it needs a snapshot. */
  readonly matched: number | undefined;
  readonly heardAt: number;
}

const NEVER_HEARD: Follower = { matched: undefined, heardAt: Number.NEGATIVE_INFINITY };

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (fault: Fault) => void;
  readonly timer: Timer;
}

/**
 * The copy of a raft partition in this process; the other members are in other processes.
 *
 * The same rules as `RaftPartition`, by messages: an empty member never votes, joins a led group with the same members,
 * and founds a group when a majority of empty members is connected; members of an older group stop.
 */
export class RemoteRaftCopy implements Shard {
  readonly collection;
  readonly partition;
  readonly self;
  readonly owner;
  readonly session;
  readonly key: string;
  readonly membership: string;
  readonly #links: PeerLinks;
  readonly #ambient: Ambient;
  readonly #others: ReadonlySet<number>;
  readonly #majority: number;
  readonly #isPreferred: (node: number) => boolean;
  #log = new RaftLog();
  readonly #startedAt: number;
  #timer: Timer | undefined;
  #group: GroupId | undefined;
  #isStopped = false;
  /** The term of the last leader. */
  #term = 0;
  /** The last term in which this member voted for another. */
  #votedTerm = 0;
  /** An own election; dropped when a leader is heard from. */
  #candidacy: { readonly term: number; readonly votes: Set<number> } | undefined;
  #lastCandidacy = 0;
  /** The node of the leader, possibly this one. */
  #leader: number | undefined;
  #leaderHeardAt = 0;
  #electionMs = ELECTION_MS;
  readonly #followers = new Map<number, Follower>();
  /** When other empty members were heard from. */
  readonly #emptyAt = new Map<number, number>();
  /** Own entries that wait for a majority, by index. */
  readonly #commits = new Map<number, Waiting>();
  /** Requests that wait for the leader. */
  readonly #requests = new Map<number, Waiting>();
  #lastRequest = 0;

  constructor(place: ShardPlace, links: PeerLinks, ambient: Ambient) {
    this.collection = place.collection;
    this.partition = place.partition;
    this.self = place.self;
    this.owner = place.owner;
    this.session = place.session;
    this.key = partitionKey(place.collection.name, place.partition);
    this.membership = membershipOf(place);
    this.#links = links;
    this.#ambient = ambient;
    const { members, primary } = partitionOf(place);
    this.#others = new Set(members.map(({ node }) => node).filter((node) => node !== place.self.node));
    this.#majority = Math.floor((this.#others.size + 1) / 2) + 1;
    this.#isPreferred = (node) =>
      members.some((member) => member.node === node && (primary === member.node || primary === member.shard));
    this.#startedAt = this.#now();
    this.#tick();
  }

  get objects(): ReadonlyMap<string, StoredObject> {
    return this.#log.objects;
  }

  get isWritable(): boolean {
    return this.#reachedLeader() !== undefined;
  }

  async write(id: string, change: Change): Promise<void> {
    const local = this.objects.get(id);
    if (applyChange(change, local) === local) return;
    const leader = this.#reachedLeader();
    if (leader === undefined) throw internal(NO_LEADER);
    if (leader === this.self.node) {
      await this.#append(id, change);
      return;
    }
    const request = (this.#lastRequest += 1);
    await this.#wait(this.#requests, request, () => this.#send(leader, { kind: "write", request, id, change }));
  }

  receive(from: number, membership: string, message: RaftMessage): void {
    if (message.kind === "founded") this.#hearOfGroup(message.group, message.nodes);
    else if (membership === this.membership && !this.#isStopped) this.#handle(from, message);
  }

  /** Ends with the process: nothing is kept. */
  close(): void {
    this.#timer?.cancel();
    this.#isStopped = true;
    this.#abandon();
  }

  #handle(from: number, message: Exclude<RaftMessage, { kind: "founded" }>): void {
    switch (message.kind) {
      case "empty":
        this.#emptyAt.set(from, this.#now());
        // A member that restarted lost what it had.
        if (this.#isLeader()) this.#followers.set(from, NEVER_HEARD);
        break;
      case "append":
        this.#accept(from, message);
        break;
      case "appended":
        this.#confirm(from, message);
        break;
      case "vote":
        this.#vote(from, message);
        break;
      case "voted":
        this.#countVote(from, message);
        break;
      case "write":
        void this.#answer(from, message);
        break;
      case "written":
        this.#finish(message.request, message.error);
        break;
    }
  }

  #tick(): void {
    this.#timer = this.#ambient.timers.after(TICK_MS, () => this.#tick());
    if (this.#isStopped) return;
    if (this.#group === undefined) this.#announceEmpty();
    else if (this.#isLeader()) this.#lead();
    else if (this.#now() - this.#leaderHeardAt > this.#electionMs) this.#startElection();
  }

  /** Tells the others that this member is empty, and founds a group with a majority of empty ones. */
  #announceEmpty(): void {
    this.#broadcast({ kind: "empty" });
    if (this.#now() - this.#startedAt < FOUND_MS && this.#others.size > 0) return;
    const empty = [this.self.node, ...[...this.#emptyAt].filter(([, at]) => this.#isRecent(at)).map(([node]) => node)];
    if (empty.length < this.#majority || this.#chooseFounder(empty) !== this.self.node) return;
    this.#group = { number: this.#ambient.clock.now(), id: this.#ambient.ids.uuid() };
    this.#becomeLeader(1);
  }

  #chooseFounder(empty: readonly number[]): number | undefined {
    return empty.find(this.#isPreferred) ?? [...empty].sort((a, b) => a - b)[0];
  }

  /** Sends the log to all members, and steps down without a majority. */
  #lead(): void {
    for (const node of this.#others) this.#sendLog(node);
    this.#announceGroup();
    const reached = [...this.#followers.values()].filter(({ heardAt }) => this.#isRecent(heardAt)).length + 1;
    if (reached < this.#majority && this.#now() - this.#leaderHeardAt > SILENCE_MS) this.#stepDown();
    else if (reached >= this.#majority) this.#leaderHeardAt = this.#now();
  }

  /** Once a majority has joined, members of older groups learn of this one, and stop when it lists them. */
  #announceGroup(): void {
    if (this.#group === undefined || this.#log.commit === 0) return;
    const message = { kind: "founded", group: this.#group, nodes: [this.self.node, ...this.#others] } as const;
    for (const node of this.#links.connected) this.#send(node, message);
  }

  #sendLog(node: number): void {
    const { matched } = this.#followers.get(node) ?? {};
    const content = (matched === undefined ? undefined : this.#log.after(matched)) ?? this.#log.snapshot();
    if (this.#group === undefined) return;
    this.#send(node, { kind: "append", group: this.#group, term: this.#term, commit: this.#log.commit, content });
  }

  #accept(from: number, message: Extract<RaftMessage, { kind: "append" }>): void {
    const { group, term, commit, content } = message;
    if (this.#group !== undefined && this.#group.id !== group.id) return;
    if (term < Math.max(this.#term, this.#votedTerm)) return;
    if (this.#group === undefined && "previous" in content) return;
    if (this.#leader !== from) this.#abandon();
    [this.#group, this.#term, this.#candidacy] = [group, term, undefined];
    [this.#leader, this.#leaderHeardAt] = [from, this.#now()];
    const ok = this.#takeOver(content);
    const last = ("previous" in content ? content.previous : content.base) + content.entries.length;
    if (ok) this.#log.apply(Math.min(commit, last));
    this.#send(from, { kind: "appended", group, term, last, ok });
  }

  #takeOver(content: LogSuffix | LogSnapshot): boolean {
    if ("previous" in content) return this.#log.accept(content);
    const last = content.base + content.entries.length;
    // A snapshot of what this member has would only take later entries away.
    if (this.#log.termAt(last) !== (content.entries.at(-1)?.term ?? content.baseTerm)) this.#log.install(content);
    return true;
  }

  #confirm(from: number, { group, term, last, ok }: Extract<RaftMessage, { kind: "appended" }>): void {
    if (!this.#isLeader() || group.id !== this.#group?.id || term !== this.#term) return;
    const { matched = 0 } = this.#followers.get(from) ?? NEVER_HEARD;
    this.#followers.set(from, { matched: ok ? Math.max(last, matched) : undefined, heardAt: this.#now() });
    this.#advance();
    if (!ok) this.#sendLog(from);
  }

  /** Commits what a majority has, and acknowledges the writes that wait for it. */
  #advance(): void {
    const lasts = [this.#log.last, ...[...this.#followers.values()].map(({ matched = 0 }) => matched)];
    const reached = lasts.sort((a, b) => b - a)[this.#majority - 1] ?? 0;
    if (reached > this.#log.commit && this.#log.termAt(reached) === this.#term) this.#log.apply(reached);
    for (const index of this.#commits.keys()) if (index <= this.#log.commit) settle(this.#commits, index);
  }

  #startElection(): void {
    this.#stepDown();
    this.#electionMs = ELECTION_MS * (1 + this.#ambient.random.next());
    this.#leaderHeardAt = this.#now();
    if (this.#group === undefined) return;
    const term = Math.max(this.#term, this.#votedTerm, this.#lastCandidacy) + 1;
    this.#lastCandidacy = term;
    this.#candidacy = { term, votes: new Set([this.self.node]) };
    const { last, lastTerm } = this.#log;
    this.#broadcast({ kind: "vote", group: this.#group, term, last, lastTerm });
    if (this.#majority === 1) this.#becomeLeader(term);
  }

  #vote(from: number, { group, term, last, lastTerm }: Extract<RaftMessage, { kind: "vote" }>): void {
    if (group.id !== this.#group?.id) return;
    // The next own election needs a term that no one has used.
    this.#lastCandidacy = Math.max(this.#lastCandidacy, term);
    if (term <= this.#votedTerm || term <= this.#term) return;
    // A member that still hears the leader keeps it.
    if (this.#leader !== undefined && this.#leader !== from && this.#isRecent(this.#leaderHeardAt)) return;
    if (this.#candidacy !== undefined && term <= this.#candidacy.term) return;
    if (this.#log.compare({ last, lastTerm }) > 0) return;
    [this.#votedTerm, this.#candidacy] = [term, undefined];
    this.#leader = undefined;
    this.#leaderHeardAt = this.#now();
    this.#send(from, { kind: "voted", group, term });
  }

  #countVote(from: number, { group, term }: Extract<RaftMessage, { kind: "voted" }>): void {
    if (group.id !== this.#group?.id || this.#candidacy?.term !== term) return;
    this.#candidacy.votes.add(from);
    if (this.#candidacy.votes.size >= this.#majority) this.#becomeLeader(term);
  }

  #becomeLeader(term: number): void {
    [this.#term, this.#candidacy] = [term, undefined];
    [this.#leader, this.#leaderHeardAt] = [this.self.node, this.#now()];
    for (const node of this.#others) this.#followers.set(node, NEVER_HEARD);
    this.#log.append({ term });
    this.#advance();
    this.#lead();
  }

  #stepDown(): void {
    this.#leader = undefined;
    this.#followers.clear();
    this.#abandon();
    if (this.#log.commit > 0) return;
    // The group never had a majority: this member is empty again.
    [this.#group, this.#log] = [undefined, new RaftLog()];
    [this.#term, this.#votedTerm] = [0, 0];
  }

  #hearOfGroup(group: GroupId, nodes: readonly number[]): void {
    if (this.#group === undefined || this.#group.id === group.id || !nodes.includes(this.self.node)) return;
    if (group.number <= this.#group.number) return;
    this.#isStopped = true;
    this.#leader = undefined;
    this.#abandon();
  }

  /** Rejects the writes that wait for a leader that is gone; they may still take effect. */
  #abandon(): void {
    for (const waiting of [this.#commits, this.#requests]) {
      for (const key of waiting.keys()) settle(waiting, key, internal(NO_LEADER));
    }
  }

  async #append(id: string, change: Change): Promise<void> {
    const before = this.#log.latest(id);
    const after = applyChange(change, before);
    if (after === before) return;
    const index = this.#log.append({ term: this.#term, id, after });
    await this.#wait(this.#commits, index, () => {
      this.#advance();
      for (const node of this.#followers.keys()) this.#sendLog(node);
    });
  }

  async #answer(from: number, { request, id, change }: Extract<RaftMessage, { kind: "write" }>): Promise<void> {
    try {
      if (!this.#isLeader()) throw internal(NO_LEADER);
      await this.#append(id, change);
      this.#send(from, { kind: "written", request });
    } catch (thrown) {
      const { message } = Fault.from(thrown);
      const kind = isFault(thrown, "conflict") ? "conflict" : "internal";
      this.#send(from, { kind: "written", request, error: { kind, message } });
    }
  }

  #finish(request: number, error: WriteError | undefined): void {
    if (error === undefined) settle(this.#requests, request);
    else settle(this.#requests, request, faultOf(error));
  }

  #wait(waiting: Map<number, Waiting>, key: number, begin: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const expire = (): void => settle(waiting, key, deadlineExceeded(REQUEST_MS));
      waiting.set(key, { resolve, reject, timer: this.#ambient.timers.after(REQUEST_MS, expire) });
      begin();
    });
  }

  #reachedLeader(): number | undefined {
    if (this.#isStopped || this.#leader === undefined) return undefined;
    return this.#isRecent(this.#leaderHeardAt) ? this.#leader : undefined;
  }

  #isLeader(): boolean {
    return !this.#isStopped && this.#leader === this.self.node;
  }

  #broadcast(message: RaftMessage): void {
    for (const node of this.#others) this.#send(node, message);
  }

  #send(node: number, message: RaftMessage): void {
    this.#links.send(node, { key: this.key, membership: this.membership, message });
  }

  #isRecent(at: number): boolean {
    return this.#now() - at <= SILENCE_MS;
  }

  #now(): number {
    return this.#ambient.clock.monotonic();
  }
}

function settle(waiting: Map<number, Waiting>, key: number, fault?: Fault): void {
  const found = waiting.get(key);
  waiting.delete(key);
  found?.timer.cancel();
  if (fault === undefined) found?.resolve();
  else found?.reject(fault);
}

function faultOf({ kind, message }: WriteError): Fault {
  return kind === "conflict" ? conflict("object", "").with({ message }) : internal(message);
}
