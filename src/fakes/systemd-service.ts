// A small systemd1 manager on a real bus: transient units with properties, jobs, reload, and faults on demand.
import { Message, type MessageBus, sessionBus, Variant } from '@jellybrick/dbus-next'

interface FakeUnit {
  readonly properties: Map<string, Variant>
  active: boolean
}

/** What happens instead of the ordinary answer to a method. */
type SystemdFault =
  | { readonly kind: 'hang' }
  | { readonly kind: 'error'; readonly name: string; readonly text: string }
  | { readonly kind: 'job'; readonly result: string }
  | { readonly kind: 'lost-job' }
  | { readonly kind: 'job-first' }

const PATH = '/org/freedesktop/systemd1'
const MANAGER = 'org.freedesktop.systemd1.Manager'
const METHOD_CALL = 1
const needsUnit = ['StartUnit', 'StopUnit', 'SetUnitProperties', 'GetUnit']

type Properties = readonly (readonly [string, Variant])[]

export class FakeSystemdService {
  readonly units = new Map<string, FakeUnit>()
  /** Methods called, in order, with their first argument. */
  readonly calls: string[] = []
  private readonly faults = new Map<string, SystemdFault>()
  private jobs = 0

  private constructor(private readonly bus: MessageBus) {
    bus.addMethodHandler((message: Message) => this.handle(message))
  }

  static async start(address: string): Promise<FakeSystemdService> {
    const bus = sessionBus({ busAddress: address, authMethods: ['EXTERNAL'] })
    Reflect.apply(bus.on, bus, ['error', () => undefined])
    const service = new FakeSystemdService(bus)
    await bus.requestName('org.freedesktop.systemd1', 0)
    return service
  }

  fault(method: string, fault: SystemdFault | undefined): void {
    if (fault === undefined) this.faults.delete(method)
    else this.faults.set(method, fault)
  }

  close(): void {
    this.bus.disconnect()
  }

  private handle(message: Message): boolean {
    if (message.type !== METHOD_CALL || !message.path.startsWith(PATH)) return false
    this.calls.push([message.member, message.body[0]].filter((word) => typeof word === 'string').join(' '))
    const fault = this.faults.get(message.member)
    if (fault?.kind === 'hang') return true
    if (fault?.kind === 'error') this.bus.send(Message.newError(message, fault.name, fault.text))
    else this.answer(message, fault)
    return true
  }

  private answer(message: Message, fault: SystemdFault | undefined): void {
    const method = this.methods[message.member]
    const unit = String(message.body[0])
    if (method === undefined) this.error(message, 'UnknownMethod', message.member)
    else if (needsUnit.includes(message.member) && !this.units.has(unit))
      this.error(message, 'NoSuchUnit', `Unit ${unit} not loaded.`)
    else method(message, unit, fault)
  }

  private readonly methods: Readonly<
    Record<string, (message: Message, unit: string, fault: SystemdFault | undefined) => void>
  > = {
    Subscribe: (message) => this.reply(message),
    Reload: (message) => {
      this.reply(message)
      this.signal('Reloading', 'b', [true])
      this.signal('Reloading', 'b', [false])
    },
    StartTransientUnit: (message, unit, fault) => {
      if (this.units.has(unit)) {
        this.error(message, 'UnitExists', `Unit ${unit} was already loaded`)
        return
      }
      this.units.set(unit, { properties: new Map(message.body[2] as Properties), active: true })
      this.job(message, unit, fault)
    },
    StartUnit: (message, unit, fault) => {
      const found = this.units.get(unit)
      if (found !== undefined) found.active = true
      this.job(message, unit, fault)
    },
    StopUnit: (message, unit, fault) => {
      this.units.delete(unit)
      this.job(message, unit, fault)
    },
    SetUnitProperties: (message, unit) => {
      for (const [name, value] of message.body[2] as Properties)
        this.units.get(unit)?.properties.set(name, value)
      this.reply(message)
    },
    GetUnit: (message, unit) =>
      this.reply(message, 'o', [`${PATH}/unit/${Buffer.from(unit).toString('hex')}`]),
    Get: (message) => this.property(message, String(message.body[1])),
  }

  private property(message: Message, name: string): void {
    const unit = this.units.get(Buffer.from(message.path.split('/').at(-1) ?? '', 'hex').toString())
    const special: Readonly<Record<string, Variant>> = {
      Version: new Variant('s', '252 (fake)'),
      ActiveState: new Variant('s', unit?.active ? 'active' : 'inactive'),
    }
    const value = special[name] ?? unit?.properties.get(name)
    if (value === undefined) this.error(message, 'UnknownProperty', name)
    else this.reply(message, 'v', [value])
  }

  private job(message: Message, unit: string, fault: SystemdFault | undefined): void {
    const path = `${PATH}/job/${++this.jobs}`
    const result = fault?.kind === 'job' ? fault.result : 'done'
    const removed = () => this.signal('JobRemoved', 'uoss', [this.jobs, path, unit, result])
    if (fault?.kind === 'job-first') removed()
    this.reply(message, 'o', [path])
    if (fault?.kind !== 'job-first' && fault?.kind !== 'lost-job') removed()
  }

  private reply(message: Message, signature = '', body: unknown[] = []): void {
    this.bus.send(Message.newMethodReturn(message, signature, body))
  }

  private error(message: Message, name: string, text: string): void {
    this.bus.send(Message.newError(message, `org.freedesktop.systemd1.${name}`, text))
  }

  private signal(member: string, signature: string, body: unknown[]): void {
    this.bus.send(Message.newSignal(PATH, MANAGER, member, signature, body))
  }
}
