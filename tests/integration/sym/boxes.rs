// Blocks of which the debug information tells the types, whatever the mangling.
use std::collections::HashMap;
use std::rc::Rc;

pub struct Rec {
    pub sums: [u64; 10],
}
pub struct Node<T> {
    pub value: T,
}

fn main() {
    let mut boxes: Vec<Box<Rec>> = Vec::new();
    let mut counted: Vec<Rc<Node<u16>>> = Vec::new();
    let mut table = HashMap::new();
    for i in 0..100u64 {
        boxes.push(Box::new(Rec { sums: [i; 10] }));
        counted.push(Rc::new(Node { value: i as u16 }));
        table.insert(i, Rec { sums: [i; 10] });
    }
    let wide = vec![i64::MAX as u128; boxes.len() * 10];
    let read: u64 = boxes.iter().chain(std::iter::empty()).map(|r| r.sums[9]).sum::<u64>()
        + counted.iter().map(|n| u64::from(n.value)).sum::<u64>()
        + table.values().map(|r| r.sums[0]).sum::<u64>()
        + wide[9] as u64;
    std::process::exit((read == 0) as i32)
}
