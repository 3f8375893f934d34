// The list of subcommands. Each is loaded on demand, so that --help stays fast.
import type { Command } from 'commander'
import type { Io } from './io.js'

interface CommandModule {
  /** `whole` builds the program with every command in full: for what describes the others. */
  create(io: Io, whole: () => Promise<Command>): Command
}

interface CommandEntry {
  readonly name: string
  readonly summary: string
  load(): Promise<CommandModule>
}

export const commands: readonly CommandEntry[] = [
  {
    name: 'up',
    summary: 'run a whole node on this machine, with three demo pods; Ctrl-C removes it',
    load: () => import('./up/command.js'),
  },
  {
    name: 'doctor',
    summary: 'check this node and print what to fix',
    load: () => import('./doctor/command.js'),
  },
  {
    name: 'cri',
    summary: 'run a CRI server in front of a runtime: forwards every call, answers what the runtime lacks',
    load: () => import('./cri/command.js'),
  },
  {
    name: 'companion',
    summary: 'run Memory QoS beside another kubelet; rollback restores the original values',
    load: () => import('./companion/command.js'),
  },
  {
    name: 'explain',
    summary: 'show the cgroup values of a pod, with formula and reason',
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
    summary: 'run the node agent, with the flags and files of the upstream kubelet',
    load: () => import('./kubelet/command.js'),
  },
  {
    name: 'lab',
    summary: 'run a command in a lab machine: a real kernel with cgroup v2, booted as a process',
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
    summary: 'print the local token of this machine, or a login link for a browser',
    load: () => import('./token/command.js'),
  },
  {
    name: 'dashboard',
    summary: 'print a login link to the dashboard of this machine',
    load: () => import('./dashboard.js'),
  },
  {
    name: 'top',
    summary: 'show live resource usage of pods and containers, from any CRI socket',
    load: () => import('./top/command.js'),
  },
  {
    name: 'completion',
    summary: 'print a completion script for bash, zsh or fish',
    load: () => import('./completion/command.js'),
  },
  {
    name: 'version',
    summary: 'print the version of the program, of Node and of the supported Kubernetes releases',
    load: () => import('./version.js'),
  },
]
