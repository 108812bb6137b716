import { deadlineExceeded, internal, type Fault } from "@oaas/foundation";
import { applyChange, type Change, type StoredObject } from "../objects/stored-object.ts";
import { RaftLog } from "./raft-log.ts";
import { membershipOf, partitionOf, RESEND_MS, type Links, type Shard, type ShardPlace } from "./shard.ts";

/**
 * A group from its first election on. Members that start empty join it while it has a leader; a majority of empty members
 * founds another one, and the objects of this one are gone (T2).
 */
class Group {
  readonly number: number;
  readonly membership: string;
  readonly nodes: ReadonlySet<number>;
  readonly majority: number;
  leader: RaftCopy | undefined;
  /** When a new leader may be elected, while there is none. */
  electionAt: number | undefined;
  term = 0;
  readonly waiting = new Map<
    number,
    { readonly resolve: (value: void) => void; readonly reject: (fault: Fault) => void }
  >();

  constructor(number: number, { membership, nodes }: RaftCopy) {
    this.number = number;
    this.membership = membership;
    this.nodes = nodes;
    this.majority = Math.floor(nodes.size / 2) + 1;
  }
}

class RaftCopy implements Shard {
  readonly collection;
  readonly partition;
  readonly self;
  readonly owner;
  readonly session;
  /** Nodes and shards as this copy read them at its start. Members with another list are another group. */
  readonly membership: string;
  readonly nodes: ReadonlySet<number>;
  readonly joinsAt: number;
  readonly log = new RaftLog();
  group: Group | undefined;
  /** A group that was founded later has taken its place. */
  isStopped = false;
  readonly #partition: RaftPartition;

  constructor(place: ShardPlace, partition: RaftPartition, joinsAt: number) {
    this.collection = place.collection;
    this.partition = place.partition;
    this.self = place.self;
    this.owner = place.owner;
    this.session = place.session;
    this.membership = membershipOf(place);
    this.nodes = new Set(partitionOf(place).members.map(({ node }) => node));
    this.joinsAt = joinsAt;
    this.#partition = partition;
  }

  get objects(): ReadonlyMap<string, StoredObject> {
    return this.log.objects;
  }

  get isWritable(): boolean {
    return this.#partition.leaderOf(this) !== undefined;
  }

  write(id: string, change: Change): Promise<void> {
    return this.#partition.write(this, id, change);
  }

  /** The last entry up to which its log equals that of the leader; 0 when its end differs. */
  matches({ group, log }: RaftCopy): number {
    const { last } = this.log;
    const isEqual = last <= log.last && this.log.termAt(last) === log.termAt(last);
    return this.group === group && isEqual ? last : 0;
  }

  /** Takes over the log of the leader: entries that follow its own, else a snapshot. */
  copyLog({ group, log }: RaftCopy): void {
    const suffix = this.group === group ? log.after(Math.min(this.log.last, log.last)) : undefined;
    if (suffix === undefined || !this.log.accept(suffix)) this.log.install(log.snapshot());
    this.group = group;
  }
}

const NO_LEADER = "Replication error: No leader available for forwarding";

export interface RaftTiming {
  /** Time without a leader after the loss of one. */
  readonly electionMs: number;
  /** Time that an empty member needs to copy the objects of a living group. */
  readonly catchUpMs: number;
  /** Time after which a write without a majority fails; it may still take effect. */
  readonly requestTimeoutMs: number;
}

/**
 * The copies of a raft partition (T1, T2, T4).
 *
 * *Guarantees*: an acknowledged write is in the logs of a majority. A leader has every acknowledged write, as long as no
 * majority of the members restarts before the restarted ones have caught up.
 *
 * *Caveats*: elections are immediate except for `electionMs`; votes are counted by who is connected, not by messages.
 */
export class RaftPartition {
  readonly #copies = new Set<RaftCopy>();
  readonly #links: Links;
  readonly #timing: RaftTiming;
  /** Nodes that have held a copy. */
  readonly #started = new Set<number>();
  #groups = 0;

  constructor(links: Links, timing: RaftTiming) {
    this.#links = links;
    this.#timing = timing;
  }

  add(place: ShardPlace): Shard {
    const joinsAt = this.#links.now() + this.#timing.catchUpMs;
    const copy = new RaftCopy(place, this, joinsAt);
    this.#copies.add(copy);
    this.#started.add(place.self.node);
    if (this.#timing.catchUpMs > 0) this.#links.after(this.#timing.catchUpMs, () => this.settle());
    return copy;
  }

  remove(shard: Shard): void {
    this.#copies.delete(shard as RaftCopy);
  }

  get isEmpty(): boolean {
    return this.#copies.size === 0;
  }

  /** Whether a copy would start again while its group runs. */
  isRestart(place: ShardPlace): boolean {
    const membership = membershipOf(place);
    if (!this.#started.has(place.self.node)) return false;
    return [...this.#copies].some((copy) => copy.group !== undefined && copy.membership === membership);
  }

  /** The leader that a copy can reach. */
  leaderOf(copy: RaftCopy): RaftCopy | undefined {
    const leader = copy.isStopped ? undefined : copy.group?.leader;
    return leader === undefined || leader === copy || this.#links.connected(copy, leader) ? leader : undefined;
  }

  async write(from: RaftCopy, id: string, change: Change): Promise<void> {
    const local = from.objects.get(id);
    if (applyChange(change, local) === local) return;
    if (this.leaderOf(from) !== from) await this.#travel();
    const leader = this.leaderOf(from);
    const group = leader?.group;
    if (leader === undefined || group === undefined) throw internal(NO_LEADER);
    const before = leader.log.latest(id);
    const after = applyChange(change, before);
    if (after === before) return;
    const index = leader.log.append({ term: group.term, id, after });
    this.#replicate(group);
    if (leader.log.commit < index) await this.#committed(group, index);
    if (leader !== from) await this.#travel();
  }

  /** Called when a connection or a node changed: elections, joins and stops. */
  settle(): void {
    for (let pass = 0, moved = true; moved && pass < MAX_PASSES; pass += 1) {
      moved = false;
      for (const group of this.#livingGroups()) {
        moved = this.#elect(group) || moved;
        moved = this.#stopOlder(group) || moved;
      }
      moved = this.#found() || moved;
    }
    for (const group of this.#livingGroups()) this.#replicate(group);
  }

  #livingGroups(): readonly Group[] {
    const groups = new Set([...this.#copies].flatMap(({ group }) => (group === undefined ? [] : [group])));
    return [...groups].sort((a, b) => b.number - a.number);
  }

  #membersOf(group: Group): RaftCopy[] {
    return [...this.#copies].filter((copy) => copy.group === group && !copy.isStopped);
  }

  #connected(a: RaftCopy, b: RaftCopy): boolean {
    return a === b || this.#links.connected(a, b);
  }

  /** Keeps a leader that reaches a majority, else elects the one with the longest log that a majority votes for. */
  #elect(group: Group): boolean {
    const members = this.#membersOf(group);
    const { leader } = group;
    if (leader !== undefined) {
      const reached = members.includes(leader) ? members.filter((each) => this.#connected(leader, each)).length : 0;
      if (reached >= group.majority) return false;
      this.#depose(group);
    }
    if (group.electionAt !== undefined && this.#links.now() < group.electionAt) return leader !== undefined;
    const candidate = members
      .filter((each) => members.filter((voter) => this.#votes(voter, each)).length >= group.majority)
      .sort((a, b) => b.log.compare(a.log) || a.self.node - b.self.node)[0];
    if (candidate === undefined) return leader !== undefined;
    this.#lead(group, candidate);
    return true;
  }

  #votes(voter: RaftCopy, candidate: RaftCopy): boolean {
    return this.#connected(voter, candidate) && voter.log.compare(candidate.log) <= 0;
  }

  #depose(group: Group): void {
    group.leader = undefined;
    for (const { reject } of group.waiting.values()) reject(internal(NO_LEADER));
    group.waiting.clear();
    const { electionMs } = this.#timing;
    if (electionMs === 0) return;
    group.electionAt = this.#links.now() + electionMs;
    this.#links.after(electionMs, () => this.settle());
  }

  #lead(group: Group, leader: RaftCopy): void {
    group.leader = leader;
    group.electionAt = undefined;
    group.term += 1;
    leader.log.append({ term: group.term });
  }

  /** A majority of empty members that see each other, and no leader of their group, founds a group. */
  #found(): boolean {
    const led = new Set(this.#livingGroups().flatMap(({ leader, membership }) => (leader ? [membership] : [])));
    const empty = [...this.#copies].filter(({ group, membership }) => group === undefined && !led.has(membership));
    for (const founder of [...empty].sort(byPrimaryFirst)) {
      const members = empty.filter((each) => each.membership === founder.membership && this.#connected(founder, each));
      if (members.length <= founder.nodes.size / 2) continue;
      this.#groups += 1;
      const group = new Group(this.#groups, founder);
      for (const member of members) member.group = group;
      this.#lead(group, founder);
      return true;
    }
    return false;
  }

  /** Members that a later group lists stop when they hear of it; their objects are gone. */
  #stopOlder({ leader, nodes, number }: Group): boolean {
    if (leader === undefined) return false;
    const older = [...this.#copies].filter(
      (copy) =>
        copy.group !== undefined &&
        copy.group.number < number &&
        !copy.isStopped &&
        nodes.has(copy.self.node) &&
        this.#links.connected(leader, copy),
    );
    for (const copy of older) copy.isStopped = true;
    return older.length > 0;
  }

  /** Sends the log of the leader to all members that lack a part of it. */
  #replicate(group: Group): void {
    const { leader } = group;
    if (leader === undefined) return;
    for (const copy of this.#copies) if (this.#isBehind(copy, leader)) this.#send(group, leader, copy);
    this.#advance(group);
  }

  #isBehind(copy: RaftCopy, leader: RaftCopy): boolean {
    if (copy === leader || copy.isStopped || copy.membership !== leader.membership) return false;
    if (!this.#links.connected(leader, copy)) return false;
    if (copy.group === undefined) return this.#links.now() >= copy.joinsAt;
    return copy.group === leader.group && (copy.log.last !== leader.log.last || copy.log.commit !== leader.log.commit);
  }

  #send(group: Group, leader: RaftCopy, to: RaftCopy): void {
    const deliver = (): void => {
      if (group.leader !== leader || !this.#copies.has(to) || !this.#isBehind(to, leader)) return;
      to.copyLog(leader);
      this.#advance(group);
    };
    const again = (): void => {
      if (group.leader === leader && this.#copies.has(to) && this.#isBehind(to, leader)) this.#send(group, leader, to);
    };
    if (this.#links.loses()) this.#links.after(RESEND_MS, again);
    else if (this.#links.latencyMs > 0) this.#links.after(this.#links.latencyMs, deliver);
    else deliver();
  }

  /** Commits what a majority has, applies it, and acknowledges the writes that wait for it. */
  #advance(group: Group): void {
    const { leader } = group;
    if (leader === undefined) return;
    const members = this.#membersOf(group);
    const reached = members.map((each) => each.matches(leader)).sort((a, b) => b - a)[group.majority - 1] ?? 0;
    // As in raft, a leader commits by an entry of its own term only.
    if (reached > leader.log.commit && leader.log.termAt(reached) === group.term) leader.log.apply(reached);
    for (const copy of members) {
      if (this.#connected(leader, copy)) copy.log.apply(Math.min(leader.log.commit, copy.matches(leader)));
    }
    for (const [index, { resolve }] of group.waiting) {
      if (index > leader.log.commit) continue;
      group.waiting.delete(index);
      resolve(undefined);
    }
  }

  #committed(group: Group, index: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#links.after(this.#timing.requestTimeoutMs, () => {
        group.waiting.delete(index);
        reject(deadlineExceeded(this.#timing.requestTimeoutMs));
      });
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          timer.cancel();
          settle(value);
        };
      group.waiting.set(index, { resolve: settled(resolve), reject: settled(reject) });
    });
  }

  async #travel(): Promise<void> {
    const { latencyMs } = this.#links;
    if (latencyMs > 0) await new Promise<void>((resolve) => this.#links.after(latencyMs, resolve));
  }
}

const MAX_PASSES = 10;

function byPrimaryFirst(a: RaftCopy, b: RaftCopy): number {
  return Number(isPrimary(b)) - Number(isPrimary(a)) || a.self.node - b.self.node;
}

/** The primary may be a node id, as the store compares it (T3), or a shard id. */
function isPrimary(copy: RaftCopy): boolean {
  const { primary } = partitionOf(copy);
  return primary === copy.self.node || primary === copy.self.shard;
}
