//! Where a process is in its code, and where in memory its code lies. In: a process that stands still. Out: an address, or the one
//! at which a file begins. None where the system does not tell. A process within the system itself, asleep or not, is where it goes on
//! after that.

/// The address of the instruction that a stopped process goes on with.
pub(crate) fn place(pid: u32) -> Option<u64> {
    of_line(&std::fs::read_to_string(format!("/proc/{pid}/syscall")).ok()?)
}

/// `-1 STACK PLACE`, or with the call's number and six arguments before for one within a system call.
fn of_line(line: &str) -> Option<u64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let place = match words.as_slice() {
        ["-1", _, place] | [_, _, _, _, _, _, _, _, place] => place,
        _ => return None,
    };
    u64::from_str_radix(place.strip_prefix("0x")?, 16).ok()
}

/// The address at which a file begins in a process.
pub(crate) fn base(pid: u32, file: &str) -> Option<u64> {
    in_maps(&std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?, file)
}

/// `7f00-7f10 r--p 00000000 08:01 42   /path/of the file`.
fn in_maps(maps: &str, file: &str) -> Option<u64> {
    maps.lines().find_map(|line| {
        let path = line.find('/').map(|at| &line[at..])?;
        let mut words = line.split_whitespace();
        let (range, offset) = (words.next()?, words.nth(1)?);
        let first = path == file && u64::from_str_radix(offset, 16) == Ok(0);
        if first { u64::from_str_radix(range.split('-').next()?, 16).ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_within_the_system_are_where_it_was_called() {
        assert_eq!(of_line("-1 0x7ffc9426c5a8 0x7f4dd0d452ad\n"), Some(0x7f4d_d0d4_52ad));
        let asleep = "230 0x3 0x7f4dd0bc9000 0x20000 0x7f 0xff 0x0 0x7ffc9426c5a8 0x7f4dd0d452ad";
        assert_eq!(of_line(asleep), Some(0x7f4d_d0d4_52ad));
        assert_eq!((of_line("running"), of_line(""), of_line("-1 0x1")), (None, None, None));
    }

    #[test]
    fn a_file_begins_where_its_first_byte_lies() {
        let maps = "7f00-7f10 r--p 00000000 08:01 42                         /tmp/a b/k.so\n\
            7f10-7f20 r-xp 00001000 08:01 42                         /tmp/a b/k.so\n7f20-7f30 rw-p 00000000 00:00 0 \n";
        assert_eq!(in_maps(maps, "/tmp/a b/k.so"), Some(0x7f00));
        assert_eq!(in_maps(maps, "/tmp/other.so"), None);
        assert_eq!(in_maps(maps.split_once('\n').unwrap().1, "/tmp/a b/k.so"), None);
    }

    #[test]
    fn a_sleeping_process_is_somewhere_too() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let look = || {
            std::thread::sleep(std::time::Duration::from_millis(10));
            place(child.id())
        };
        let found = (0..500).find_map(|_| look());
        child.kill().unwrap();
        child.wait().unwrap();
        // Some systems show it to nobody.
        assert!(found.is_some() || std::fs::read_to_string("/proc/self/syscall").is_err(), "{found:?}");
    }

    #[test]
    fn a_busy_process_is_found_in_its_code() {
        let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        let pid = child.id();
        let shell = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap();
        assert!(base(pid, shell.to_str().unwrap()).is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(place(pid), None);
    }
}
