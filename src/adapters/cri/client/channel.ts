// One gRPC channel on a socket or a pipe and its observable state. Reconnecting is grpc-js's work; the bounds are
// ours: the kubelet's own values, so that a restarted runtime is found again within three seconds.
import { Client, connectivityState, credentials } from '@grpc/grpc-js'
import type { ConnectionState } from '../../../ports/runtime.js'
import type { Endpoint } from '../endpoint.js'

export interface ChannelOptions {
  /** Largest message taken from the runtime, in bytes. */
  readonly maxReceiveBytes: number
  readonly firstBackoffMs: number
  readonly longestBackoffMs: number
}

export const channelDefaults: ChannelOptions = {
  maxReceiveBytes: 16 * 1024 * 1024,
  firstBackoffMs: 100,
  longestBackoffMs: 3000,
}

/** The default 64 KiB window makes a 16 MiB answer wait for hundreds of window updates. */
const windowBytes = 4 * 1024 * 1024

export const openChannel = (endpoint: Endpoint, options: ChannelOptions): Client =>
  new Client(endpoint.grpcTarget, credentials.createInsecure(), {
    // A raw path as :authority is refused by HTTP/2 servers; the kubelet sends localhost as well.
    'grpc.default_authority': 'localhost',
    'grpc.max_receive_message_length': options.maxReceiveBytes,
    'grpc.max_send_message_length': -1,
    'grpc.initial_reconnect_backoff_ms': options.firstBackoffMs,
    'grpc.max_reconnect_backoff_ms': options.longestBackoffMs,
    'grpc-node.flow_control_window': windowBytes,
    // Clients do not share connections: closing one must free its socket.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
    'grpc.enable_channelz': 0,
    'grpc.enable_http_proxy': 0,
    'grpc.service_config_disable_resolution': 1,
  })

const stateNames: Readonly<Record<connectivityState, ConnectionState>> = {
  [connectivityState.IDLE]: 'idle',
  [connectivityState.CONNECTING]: 'connecting',
  [connectivityState.READY]: 'ready',
  [connectivityState.TRANSIENT_FAILURE]: 'backoff',
  [connectivityState.SHUTDOWN]: 'closed',
}

export interface StateWatch {
  readonly state: ConnectionState
  onState(listener: (state: ConnectionState) => void): () => void
}

export function watchState(client: Client): StateWatch {
  const channel = client.getChannel()
  const listeners = new Set<(state: ConnectionState) => void>()
  const read = (): connectivityState => channel.getConnectivityState(false)
  const watch = (seen: connectivityState): void => {
    if (seen === connectivityState.SHUTDOWN) return
    channel.watchConnectivityState(seen, Number.POSITIVE_INFINITY, () => {
      const now = read()
      watch(now)
      for (const listener of [...listeners]) listener(stateNames[now])
    })
  }
  watch(read())
  return {
    get state() {
      return stateNames[read()]
    },
    onState(listener) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}
