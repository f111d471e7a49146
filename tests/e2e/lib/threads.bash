# What slurmctld's threads are doing, read from /proc: no debugger, nothing is stopped. To be sourced.

# unix_sockets PID: inodes of the Unix sockets that a process holds, one a line.
unix_sockets() {
  local fd target
  for fd in /proc/"$1"/fd/*; do
    target=$(readlink "$fd") || continue
    [[ $target == socket:* ]] && tr -d 'socket:[]' <<<"$target"
  done | sort -u | awk 'NR == FNR { unix[$7] = 1; next } $1 in unix' /proc/net/unix -
}

# threads_on_socket PID INODE: names of the threads that are inside a system call on this socket right now, or inside a poll
# that includes it; one line per thread.
threads_on_socket() {
  local fd descriptor="" task call
  for fd in /proc/"$1"/fd/*; do
    [ "$(readlink "$fd")" = "socket:[$2]" ] && descriptor=${fd##*/}
  done
  [ -n "$descriptor" ] || return 1
  for task in /proc/"$1"/task/*; do
    read -r -a call <"$task/syscall" 2>/dev/null || continue
    _call_uses "$1" "$descriptor" "${call[@]}" && cat "$task/comm"
  done
  return 0
}

# _call_uses PID DESCRIPTOR CALL ARG1 ARG2 ...: whether this x86-64 or arm64 system call is on that descriptor.
_call_uses() {
  local name
  [ "$3" != running ] || return 1
  name=$(_call_name "$3")
  case $name in
    transfer) (($4 == $2)) ;;
    poll) _pollfds "$1" "$4" "$5" | grep -qx "$2" ;;
    *) return 1 ;;
  esac
}

# Numbers of read write sendto recvfrom sendmsg recvmsg connect writev readv, and of poll ppoll.
_call_name() {
  case $(uname -m):$1 in
    x86_64:[01] | x86_64:4[24567] | x86_64:19 | x86_64:20) echo transfer ;;
    x86_64:7 | x86_64:271 | aarch64:73) echo poll ;;
    aarch64:6[3-6] | aarch64:203 | aarch64:206 | aarch64:207 | aarch64:21[12]) echo transfer ;;
  esac
}

# _pollfds PID ADDRESS COUNT: the descriptors of an array of struct pollfd in another process.
_pollfds() {
  local count=$(($3))
  ((count > 0 && count < 1024)) || return 1
  dd if="/proc/$1/mem" bs=8 iflag=skip_bytes,count_bytes skip=$(($2)) count=$((count * 8)) status=none 2>/dev/null |
    od -An -v -td4 -w8 | awk '{ print $1 }'
}
