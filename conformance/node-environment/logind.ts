// The system bus and systemd-logind of the environment, for specs of node shutdown: both run without systemd. logind allows more
// time than any spec asks for, so that no kubelet has to change its configuration, which only systemd could make it read again.
import { mkdir, writeFile } from 'node:fs/promises'

export const logindProgram = '/lib/systemd/systemd-logind'
export const busProgram = '/usr/bin/dbus-daemon'
export const busSocket = '/run/dbus/system_bus_socket'

export const busArguments = ['--system', '--nofork', '--nopidfile'] as const

export async function configureLogind(): Promise<void> {
  for (const directory of ['/run/dbus', '/run/systemd', '/etc/systemd/logind.conf.d'])
    await mkdir(directory, { recursive: true })
  await writeFile('/etc/systemd/logind.conf.d/50-environment.conf', '[Login]\nInhibitDelayMaxSec=600\n')
}
