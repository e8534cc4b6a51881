//! How much memory the machine has left and this process has used; how much room a disk has.

use std::fs;
use std::path::Path;

/// Bytes of memory that are available: what the system says, or the room under the cgroup limit where that is less.
/// `None` when neither is known; unknown is not unlimited.
#[must_use]
pub fn available() -> Option<u64> {
    let system = fs::read_to_string("/proc/meminfo").ok().and_then(|text| kib_line(&text, "MemAvailable:"));
    let mut limits: Vec<u64> = system.into_iter().collect();
    limits.extend(cgroup_room());
    limits.into_iter().min()
}

/// The most memory this process has had resident.
#[must_use]
pub fn peak() -> Option<u64> {
    fs::read_to_string("/proc/self/status").ok().and_then(|text| kib_line(&text, "VmHWM:"))
}

/// Bytes that can still be written to the disk of `path`.
#[must_use]
pub fn disk_room(path: &Path) -> Option<u64> {
    let stat = rustix::fs::statvfs(path).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// The value of a line `key   N kB`, in bytes.
fn kib_line(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The least room under any memory limit of this process's cgroups, version 2 or 1.
fn cgroup_room() -> Option<u64> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mut least = None;
    for line in own.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, limit, usage) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
            c if c.split(',').any(|c| c == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
            }
            _ => continue,
        };
        // Limits hold for everything below them; inside a container the own path may not be visible, but the root is.
        let own = format!("{root}{path}");
        for dir in Path::new(&own).ancestors().take_while(|dir| dir.starts_with(root)) {
            let read =
                |name: &str| -> Option<u64> { fs::read_to_string(dir.join(name)).ok()?.trim().parse().ok() };
            if let (Some(limit), Some(usage)) = (read(limit), read(usage)) {
                let room = limit.saturating_sub(usage);
                least = Some(least.map_or(room, |least: u64| least.min(room)));
            }
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_kilobytes_are_read_as_bytes() {
        let text = "MemTotal:  5 kB\nMemAvailable:    1024 kB\nBad: x kB\n";
        assert_eq!(kib_line(text, "MemAvailable:"), Some(1 << 20));
        assert_eq!(kib_line(text, "Bad:"), None);
        assert_eq!(kib_line(text, "None:"), None);
    }

    #[test]
    fn this_machine_says_something_sensible() {
        assert!(available().is_some_and(|bytes| bytes > 1 << 20));
        assert!(peak().is_some_and(|bytes| bytes > 1 << 10));
        assert!(disk_room(Path::new(".")).is_some());
    }
}
