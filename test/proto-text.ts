// Reads the part of the proto3 language that proto/ uses into the shape of test/fixtures/cri-v1-fields.json.
// Strict: anything it does not know is an error, so that nothing in the file escapes the comparison.

export interface ProtoField {
  name: string
  number: number
  type: string
  label: 'singular' | 'repeated' | 'map'
  keyType?: string
  valueType?: string
  deprecated?: true
}
export interface ProtoRpc {
  name: string
  request: string
  response: string
  clientStreaming: boolean
  serverStreaming: boolean
}
export interface ProtoFile {
  syntax: string
  package: string
  services: Record<string, ProtoRpc[]>
  messages: Record<string, { fields: ProtoField[] }>
  enums: Record<string, Record<string, number>>
}

export function parseProto(text: string): ProtoFile {
  const tokens = text.replace(/\/\/[^\n]*/g, '').match(/"[^"]*"|[\w.]+|[{}()[\]<>=;,]/g) ?? []
  const file: ProtoFile = { syntax: '', package: '', services: {}, messages: {}, enums: {} }
  let at = 0
  const next = (): string => {
    const token = tokens[at++]
    if (token === undefined) throw new Error('unexpected end of proto')
    return token
  }
  const expect = (...wanted: string[]): void => {
    for (const w of wanted) {
      const token = next()
      if (token !== w)
        throw new Error(`expected '${w}', got '${token}' before ${tokens.slice(at, at + 5).join(' ')}`)
    }
  }
  const accept = (wanted: string): boolean => {
    if (tokens[at] !== wanted) return false
    at++
    return true
  }
  const once = <T>(table: Record<string, T>, name: string, value: T): T => {
    if (name in table) throw new Error(`${name} stands twice`)
    table[name] = value
    return value
  }

  function readEnum(prefix: string): void {
    const values = once(file.enums, prefix + next(), {} as Record<string, number>)
    expect('{')
    while (!accept('}')) {
      const name = next()
      expect('=')
      once(values, name, Number(next()))
      expect(';')
    }
  }

  function readField(): ProtoField {
    const field: Partial<ProtoField> = { label: 'singular' }
    const first = next()
    if (first === 'map') {
      expect('<')
      const keyType = next()
      expect(',')
      Object.assign(field, { label: 'map', type: 'map', keyType, valueType: next() })
      expect('>')
    } else if (first === 'repeated') Object.assign(field, { label: 'repeated', type: next() })
    else field.type = first
    field.name = next()
    expect('=')
    field.number = Number(next())
    if (accept('[')) {
      expect('deprecated', '=', 'true', ']')
      field.deprecated = true
    }
    expect(';')
    return field as ProtoField
  }

  function readMessage(): void {
    const name = next()
    const message = once(file.messages, name, { fields: [] as ProtoField[] })
    expect('{')
    while (!accept('}')) {
      if (accept('enum')) readEnum(`${name}.`)
      else message.fields.push(readField())
    }
  }

  function readService(): void {
    const rpcs = once(file.services, next(), [] as ProtoRpc[])
    expect('{')
    while (!accept('}')) {
      expect('rpc')
      const name = next()
      expect('(')
      const clientStreaming = accept('stream')
      const request = next()
      expect(')', 'returns', '(')
      const serverStreaming = accept('stream')
      const response = next()
      expect(')', '{', '}')
      rpcs.push({ name, request, response, clientStreaming, serverStreaming })
    }
  }

  while (at < tokens.length) {
    const word = next()
    if (word === 'syntax') {
      expect('=')
      file.syntax = next().slice(1, -1)
      expect(';')
    } else if (word === 'package') {
      file.package = next()
      expect(';')
    } else if (word === 'service') readService()
    else if (word === 'message') readMessage()
    else if (word === 'enum') readEnum('')
    else throw new Error(`unknown word '${word}'`)
  }
  return file
}
