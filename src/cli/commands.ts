// The list of subcommands. Each is loaded only when it is asked for, so that --help stays as quick as node itself.
import type { Command } from 'commander'
import type { Io } from './io.js'

export interface CommandModule {
  create(io: Io): Command
}

export interface CommandEntry {
  readonly name: string
  readonly summary: string
  load(): Promise<CommandModule>
}

export const commands: readonly CommandEntry[] = [
  {
    name: 'up',
    summary: 'a whole node on this machine, with three demo pods; Ctrl-C removes it again',
    load: () => import('./up/command.js'),
  },
  {
    name: 'doctor',
    summary: 'what is wrong with this node, and what to do about it',
    load: () => import('./doctor/command.js'),
  },
  {
    name: 'cri',
    summary: 'the CRI server in front of a runtime: forwards everything, fills in what is missing',
    load: () => import('./cri/command.js'),
  },
  {
    name: 'companion',
    summary: 'Memory QoS beside another kubelet; rollback takes everything back',
    load: () => import('./companion/command.js'),
  },
  {
    name: 'explain',
    summary: 'what is written for a pod, and why',
    load: () => import('./explain/command.js'),
  },
  {
    name: 'get',
    summary: 'show the pods of this node',
    load: () => import('./get.js'),
  },
  {
    name: 'describe',
    summary: 'show everything about one pod',
    load: () => import('./describe/command.js'),
  },
  {
    name: 'logs',
    summary: 'print the log of a container',
    load: () => import('./logs.js'),
  },
  {
    name: 'exec',
    summary: 'run a command in a container',
    load: () => import('./exec.js'),
  },
  {
    name: 'kubelet',
    summary: 'the node agent, with the flags and files of the upstream kubelet',
    load: () => import('./kubelet/command.js'),
  },
  {
    name: 'lab',
    summary: 'run a command in a real kernel with cgroup v2, booted as a process',
    load: () => import('./lab.js'),
  },
  {
    name: 'node',
    summary:
      "set up, migrate and inspect a node's CRI socket (init, join, upgrade, reset, status, use-socket)",
    load: () => import('./node/command.js'),
  },
  {
    name: 'token',
    summary: 'print the local token of this machine, or a link that logs a browser in',
    load: () => import('./token.js'),
  },
  {
    name: 'top',
    summary: 'watch pods and containers over any CRI socket',
    load: () => import('./top.js'),
  },
  {
    name: 'completion',
    summary: 'print a completion script for bash, zsh or fish',
    load: () => import('./completion.js'),
  },
]
