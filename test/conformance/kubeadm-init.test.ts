// The images of a control plane as kubeadm lists them.
import { expect, test } from 'vitest'
import { parseImageList } from '../../conformance/kubeadm-init/images.js'

test('the tags of the components, whatever else is listed', () => {
  const list = `registry.k8s.io/kube-apiserver:v1.37.1
registry.k8s.io/kube-proxy:v1.37.1
registry.k8s.io/coredns/coredns:v1.14.6
registry.k8s.io/etcd:3.7.0-0
`
  expect([...parseImageList(list)]).toEqual([
    ['kube-apiserver', 'v1.37.1'],
    ['etcd', '3.7.0-0'],
  ])
  expect(parseImageList('').size).toBe(0)
})
